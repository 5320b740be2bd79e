// Postings of statement lines. Each line is posted once between the account of the provider and what
// explains it, so that the account of the provider always has the balance of the posted lines.

import { providerAccount, type SystemAccount, systemAccount } from '../../ledger/chart.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { openLedgerAccount, readLedgerAccount } from '../balances/ledger-accounts/index.ts';
import type { Direction } from './matching.ts';
import type { DayRow, LineRow } from './store.ts';

type Purpose = Exclude<SystemAccount, 'provider'>;

interface Place {
  provider_id: string;
  environment: DayRow['environment'];
  currency: string;
}

export const accountOfProvider = ({ environment, currency, provider_id }: Place): string =>
  providerAccount(environment, currency, provider_id);

/** Opens the account of the provider, if it does not exist. */
export async function openProviderAccount(ctx: Ctx, place: Place): Promise<void> {
  const id = accountOfProvider(place);
  if (await readLedgerAccount(ctx, id)) return;
  openLedgerAccount(ctx, { id, currency: place.currency, floor: null });
}

interface Posting {
  /** Line, difference or day that the posting is about. */
  of: string;
  step: string;
  amount: bigint;
}

/** Posts an amount to the first account from the second, or in the other direction if it is negative. */
function post(
  ctx: Ctx,
  { currency }: Place,
  { of, step, amount }: Posting,
  to: string,
  from: string,
) {
  if (amount === 0n) return;
  const [debit, credit] = amount > 0n ? [from, to] : [to, from];
  ctx.transfer({
    ...{ transactionId: of, step, debit, credit, currency },
    amount: amount > 0n ? amount : -amount,
  });
}

const system = ({ environment, currency }: Place, purpose: Purpose) =>
  systemAccount(environment, purpose, currency);

/** Posts a change of the balance at the provider: an increase credits the account of `purpose`. */
export const postAtProvider = (ctx: Ctx, place: Place, posting: Posting, purpose: Purpose): void =>
  post(ctx, place, posting, system(place, purpose), accountOfProvider(place));

/** Posts between two system accounts. A negative amount is posted in the other direction. */
export const postBetween = (
  ctx: Ctx,
  place: Place,
  posting: Posting,
  { from, to }: { from: Purpose; to: Purpose },
): void => post(ctx, place, posting, system(place, to), system(place, from));

/** An amount with the sign of its effect on the balance at the provider. */
export const signed = (direction: Direction, amount: bigint): bigint =>
  direction === 'in' ? amount : -amount;

/** Effect of a line on the balance at the provider. */
export const effectOf = ({
  direction,
  amount,
  fee,
}: Pick<LineRow, 'direction' | 'amount' | 'fee'>): bigint => signed(direction, amount) - fee;
