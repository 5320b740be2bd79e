// What the operations on customers are given by whoever composes the server, and the act that registering
// and changing a customer share: opening accounts.

import type { Static } from '@sinclair/typebox';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { Refused } from '../../../kernel/contract/operation.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  provisionAccounts,
} from '../../balances/internal-accounts/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { awaitsTerms, currenciesOf } from '../eligibility/index.ts';
import type { CustomerRow } from '../records/index.ts';
import type { SignedRequestChallenge } from './contract.ts';

/** The e-mail address or telephone number that a request asks for, perhaps the one that is there. */
export interface ContactChange {
  customer: CustomerRow;
  channel: 'email' | 'phoneNumber';
  /** Null when it is emptied. */
  value: string | null;
  /** The request as it came, for a challenge to be bound to and a signature to be checked against. */
  body: unknown;
  headers: Readonly<Record<string, string | undefined>>;
}

/**
 * Answers a challenge where credentials hang on the contact and the request is not signed; undefined when
 * the change may be made, having staged what it means for the credentials. Throws where the new value is
 * taken; a wrong signature is a refusal that counts.
 */
export type TiedCredentials = (
  ctx: Ctx,
  change: ContactChange,
) => Promise<Static<typeof SignedRequestChallenge> | Refused | undefined>;

export interface CustomerParts {
  connectors(environment: Mode): Connectors;
  /** Stages what belongs to those of a customer's new accounts that are embedded wallets. */
  openWallets(
    ctx: Ctx,
    customer: CustomerRow,
    accounts: readonly InternalAccountRow[],
  ): Promise<void>;
  /** Where a version of the end-user terms is to be read; in the platform's own domain unless given. */
  termsUrl?: (version: string) => string;
  /** Absent while there are no wallets: then contacts change at once. */
  credentialsTiedTo?: TiedCredentials;
}

/** Opens the accounts a customer should have beside those that it holds, with the wallets among them. */
export async function openAccounts(
  ctx: Ctx,
  parts: CustomerParts,
  platform: PlatformRow,
  row: CustomerRow,
  held: readonly InternalAccountRow[],
): Promise<void> {
  if (awaitsTerms(platform, row)) return;
  const accounts = provisionAccounts(ctx, {
    customerId: row.id,
    currencies: currenciesOf(platform, row),
    held,
    funding: parts.connectors(platform.environment).funding,
  });
  await parts.openWallets(ctx, row, accounts);
}
