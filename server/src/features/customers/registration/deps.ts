// Dependencies of the customer operations that the composition root provides, and the account
// opening that registration and update share.

import type { Static } from '@sinclair/typebox';
import type { Connectors } from '../../../connectors/ports/index.ts';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  provisionAccounts,
} from '../../balances/internal-accounts/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { currenciesOf, requiresTermsConsent } from '../eligibility/index.ts';
import type { CustomerRow } from '../records/index.ts';
import type { SignedRequestChallenge } from './contract.ts';

/**
 * A requested e-mail address or telephone number. The requested value can equal the current value.
 */
export interface ContactChange {
  customer: CustomerRow;
  channel: 'email' | 'phoneNumber';
  /** Null clears the contact. */
  value: string | null;
  /** Original request. A challenge is bound to it, and a signature is verified against it. */
  body: unknown;
  headers: Readonly<Record<string, string | undefined>>;
}

/**
 * Authorizes a change of contact. Returns a challenge if wallet credentials depend on the contact
 * and the request is not signed. Returns a rejection for an invalid signature. An invalid signature
 * counts as an attempt. Otherwise stages the consequences for the credentials and returns
 * undefined. Throws if the new value is already in use.
 */
export type AuthorizeContactChange = (
  ctx: Ctx,
  change: ContactChange,
) => Promise<Static<typeof SignedRequestChallenge> | Rejected | undefined>;

export interface CustomerDeps {
  connectors(environment: Mode): Connectors;
  /** Stages the wallets of new accounts that are embedded wallets. */
  openWallets(
    ctx: Ctx,
    customer: CustomerRow,
    accounts: readonly InternalAccountRow[],
  ): Promise<void>;
  /** URL of a version of the end-user terms. Defaults to a URL in the domain of the platform. */
  termsUrl?: (version: string) => string;
  /** Absent if no wallets are configured. Contacts can then be changed without a signature. */
  authorizeContactChange?: AuthorizeContactChange;
}

/**
 * Opens the accounts of the customer that are not in `currentAccounts`, embedded wallets included.
 * Opens none before mandatory terms are accepted.
 */
export async function openAccounts(
  ctx: Ctx,
  deps: CustomerDeps,
  platform: PlatformRow,
  row: CustomerRow,
  currentAccounts: readonly InternalAccountRow[],
): Promise<void> {
  if (requiresTermsConsent(platform, row)) return;
  const accounts = provisionAccounts(ctx, {
    customerId: row.id,
    currencies: currenciesOf(platform, row),
    existingAccounts: currentAccounts,
    funding: deps.connectors(platform.environment).funding,
  });
  await deps.openWallets(ctx, row, accounts);
}
