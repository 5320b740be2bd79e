// What an internal account is made of, without a database: which accounts a currency calls for, and how a
// row and its ledger amounts become the resource.
import { isFiat } from '../../../catalog/currencies/currencies.ts';
import { moneyView } from '../../../catalog/currencies/money-format.ts';
import { iso } from '../../../kernel/effects.ts';
import type { InternalAccountRow, InternalAccountType } from './store.ts';

export type AccountOwner = 'customer' | 'platform';

/** The currency of embedded wallets. */
const WALLET_CURRENCY = 'USDB';

/** The accounts that holding a currency calls for: a customer's USDB has a wallet beside the balance. */
export function typesFor(currency: string, owner: AccountOwner): InternalAccountType[] {
  if (isFiat(currency)) return ['INTERNAL_FIAT'];
  const hasWallet = owner === 'customer' && currency === WALLET_CURRENCY;
  return hasWallet ? ['INTERNAL_CRYPTO', 'EMBEDDED_WALLET'] : ['INTERNAL_CRYPTO'];
}

/**
 * Whether an account is a balance that the service keeps by itself. A wallet moves only when its owner signs,
 * so it is never what a currency alone stands for: it is paid from and to where its id was named.
 */
export const isBalance = ({ type }: { type: InternalAccountType }): boolean =>
  type !== 'EMBEDDED_WALLET';

/** What an owner has at most one of: a type of account in a currency. */
export const uniquenessKeyOf = ({ currency, type }: { currency: string; type: string }): string =>
  `${currency} ${type}`;

/** What a ledger account holds, in smallest units: everything posted, and the part that is set aside. */
export interface Holding {
  balance: bigint;
  held: bigint;
}

/**
 * The resource `InternalAccount`. `balance` is what can be spent, `totalBalance` everything posted
 * including what is set aside for payments under way.
 */
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
