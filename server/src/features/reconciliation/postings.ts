// Postings of statement lines. Each line is posted once, between the ledger account of the provider
// and the account of its match, or suspense. The provider's account therefore contains every posted
// line.

import { providerAccount, type SystemAccount, systemAccount } from '../../ledger/chart.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { openLedgerAccount, readLedgerAccount } from '../balances/ledger-accounts/index.ts';
import type { Direction } from './matching.ts';
import type { DayRow, LineRow } from './store.ts';

type Purpose = Exclude<SystemAccount, 'provider'>;

interface AccountKey {
  provider_id: string;
  environment: DayRow['environment'];
  currency: string;
}

export const accountOfProvider = ({ environment, currency, provider_id }: AccountKey): string =>
  providerAccount(environment, currency, provider_id);

/** Opens the account of the provider, if it does not exist. */
export async function openProviderAccount(ctx: Ctx, key: AccountKey): Promise<void> {
  const id = accountOfProvider(key);
  if (await readLedgerAccount(ctx, id)) return;
  openLedgerAccount(ctx, { id, currency: key.currency, floor: null });
}

interface Posting {
  /** ID of the line, difference or day that is posted: the transaction ID of the ledger entry. */
  postingId: string;
  step: string;
  amount: bigint;
}

/** Debits `from` and credits `to`, or the reverse for a negative amount. */
function post(
  ctx: Ctx,
  { currency }: AccountKey,
  { postingId, step, amount }: Posting,
  to: string,
  from: string,
) {
  if (amount === 0n) return;
  const [debit, credit] = amount > 0n ? [from, to] : [to, from];
  ctx.transfer({
    ...{ transactionId: postingId, step, debit, credit, currency },
    amount: amount > 0n ? amount : -amount,
  });
}

const systemAccountOf = ({ environment, currency }: AccountKey, purpose: Purpose) =>
  systemAccount(environment, purpose, currency);

/** Posts a change of the balance at the provider. An increase credits the account of `purpose`. */
export const postAtProvider = (
  ctx: Ctx,
  key: AccountKey,
  posting: Posting,
  purpose: Purpose,
): void => post(ctx, key, posting, systemAccountOf(key, purpose), accountOfProvider(key));

/** Posts between two system accounts. A negative amount is posted in the other direction. */
export const postBetween = (
  ctx: Ctx,
  key: AccountKey,
  posting: Posting,
  { from, to }: { from: Purpose; to: Purpose },
): void => post(ctx, key, posting, systemAccountOf(key, to), systemAccountOf(key, from));

/** Returns the amount with the sign of its effect on the balance at the provider. */
export const signedAmountOf = (direction: Direction, amount: bigint): bigint =>
  direction === 'in' ? amount : -amount;

/** Effect of a line and its fee on the balance at the provider. */
export const effectOf = ({
  direction,
  amount,
  fee,
}: Pick<LineRow, 'direction' | 'amount' | 'fee'>): bigint =>
  signedAmountOf(direction, amount) - fee;
