// Rules of internal accounts: the account types of a currency, and the API view. All functions are
// pure.
import { isFiat } from '../../../catalog/currencies/currencies.ts';
import { moneyView } from '../../../catalog/currencies/money-format.ts';
import { iso } from '../../../kernel/effects.ts';
import type { InternalAccountRow, InternalAccountType } from './store.ts';

export type AccountOwner = 'customer' | 'platform';

/** The currency of embedded wallets. */
const WALLET_CURRENCY = 'USDB';

/**
 * Account types of a currency: USDB of a customer has an embedded wallet in addition to the
 * balance.
 */
export function typesFor(currency: string, owner: AccountOwner): InternalAccountType[] {
  if (isFiat(currency)) return ['INTERNAL_FIAT'];
  const hasWallet = owner === 'customer' && currency === WALLET_CURRENCY;
  return hasWallet ? ['INTERNAL_CRYPTO', 'EMBEDDED_WALLET'] : ['INTERNAL_CRYPTO'];
}

/**
 * Whether the service can debit the account without a signature. A wallet requires the signature of
 * its holder, so it is used only if a request names its ID.
 */
export const isBalance = ({ type }: { type: InternalAccountType }): boolean =>
  type !== 'EMBEDDED_WALLET';

/** An owner has at most one account of a type in a currency. */
export const uniquenessKeyOf = ({ currency, type }: { currency: string; type: string }): string =>
  `${currency} ${type}`;

/** Posted balance of a ledger account and its held part, in minor units. */
export interface Holding {
  balance: bigint;
  held: bigint;
}

/** The resource `InternalAccount`: `balance` is available, `totalBalance` includes held amounts. */
export function presentInternalAccount(row: InternalAccountRow, { balance, held }: Holding) {
  const { currency } = row;
  return {
    id: row.id,
    ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
    type: row.type,
    status: row.status,
    balance: moneyView({ currency, amount: balance - held }),
    totalBalance: moneyView({ currency, amount: balance }),
    fundingPaymentInstructions: row.funding,
    ...(row.private_enabled === null ? {} : { privateEnabled: row.private_enabled }),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}
