// What the operations on customers are given by whoever composes the server, and the act that registering
// and changing a customer share: opening accounts.
import type { Static } from '@sinclair/typebox';
import type { Connectors } from '../../connectors/ports.ts';
import type { Ctx, Environment } from '../../runtime/context.ts';
import { internalAccounts, provisionAccounts } from '../internal-accounts/index.ts';
import type { PlatformRow } from '../platform/index.ts';
import { currenciesOf } from './admission.ts';
import type { SignedRequestChallenge } from './contract.ts';
import { awaitsTerms } from './customer.ts';
import type { CustomerRow } from './store.ts';

/** A new e-mail address or telephone number that a request asks for. */
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
 * the change may be made, having staged what it means for the credentials. Throws where a signature is
 * wrong or the new value is taken.
 */
export type TiedCredentials = (
  ctx: Ctx,
  change: ContactChange,
) => Promise<Static<typeof SignedRequestChallenge> | undefined>;

export interface CustomerParts {
  connectors(environment: Environment): Connectors;
  /** Where a version of the end-user terms is to be read; in the platform's own domain unless given. */
  termsUrl?: (version: string) => string;
  /** Absent while there are no wallets: then contacts change at once. */
  credentialsTiedTo?: TiedCredentials;
}

/** Opens the accounts a customer should have beside those in the currencies it `has`. */
export function openAccounts(
  ctx: Ctx,
  parts: CustomerParts,
  platform: PlatformRow,
  row: CustomerRow,
  has: readonly string[],
): void {
  if (awaitsTerms(platform, row)) return;
  provisionAccounts(ctx, {
    customerId: row.id,
    currencies: currenciesOf(platform, row).filter((currency) => !has.includes(currency)),
    funding: parts.connectors(platform.environment).funding,
  });
}

/** The currencies a customer has accounts in. */
export async function heldCurrencies(ctx: Ctx, customerId: string): Promise<string[]> {
  const accounts = await ctx.db.find(internalAccounts, { customer_id: customerId });
  return accounts.map((account) => account.currency);
}
