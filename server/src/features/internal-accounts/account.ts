// What an internal account is made of, without a database: which accounts a currency calls for, how a row
// and its ledger amounts become the resource, and how an event that was written before its amounts were
// known gets them.
import { currencyView, isFiat } from '../../catalog/currencies.ts';
import { iso } from '../../kernel/world.ts';
import type { InternalAccountRow, InternalAccountType } from './store.ts';

/**
 * The accounts that holding a currency calls for. One today; an embedded wallet beside the account of a
 * customer's stablecoin is one more entry here.
 */
export const typesFor = (currency: string): InternalAccountType[] => [
  isFiat(currency) ? 'INTERNAL_FIAT' : 'INTERNAL_CRYPTO',
];

/** What a ledger account holds, in smallest units: everything posted, and the part that is set aside. */
export interface Holding {
  balance: bigint;
  held: bigint;
}

const amountOf = (currency: string, amount: bigint) => ({
  amount: Number(amount),
  currency: currencyView(currency),
});

/**
 * The resource `InternalAccount`. `balance` is what can be spent, `totalBalance` everything posted
 * including what is set aside for payments under way.
 */
export function presentInternalAccount(row: InternalAccountRow, { balance, held }: Holding) {
  return {
    id: row.id,
    ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
    type: row.type,
    status: row.status,
    balance: amountOf(row.currency, balance - held),
    totalBalance: amountOf(row.currency, balance),
    fundingPaymentInstructions: row.funding,
    ...(row.private_enabled === null ? {} : { privateEnabled: row.private_enabled }),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

export type InternalAccountView = ReturnType<typeof presentInternalAccount>;

interface WithAmounts {
  balance: { amount: number };
  totalBalance: { amount: number };
}

/**
 * The presented account of a balance event with the amounts that its commit left behind. `balance` and
 * `held` are those of the event's row; the other fields stay as they are.
 */
export function withBalances<T extends WithAmounts>(data: T, balance: bigint, held: bigint): T {
  return {
    ...data,
    balance: { ...data.balance, amount: Number(balance - held) },
    totalBalance: { ...data.totalBalance, amount: Number(balance) },
  };
}
