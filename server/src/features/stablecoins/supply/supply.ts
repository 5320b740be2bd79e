// Postings of mints and burns: held when ordered, posted when the provider has completed it, voided
// if it fails. Two floors therefore hold under concurrency: no more is burned than circulates, and
// no more is issued than the books can count. An operation that expired and is paid late posts
// under a step of its own, as far as the floors allow.
import type { FieldError } from '../../../kernel/fault.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isLess, lesser, subtract } from '../../../kernel/money.ts';
import { circulatingTokensAccount, issuedTokensAccount } from '../../../ledger/chart.ts';
import type { Ctx, TransferInput } from '../../../runtime/operation/context.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { MAX_UNITS } from '../minting/judge.ts';
import type { StablecoinOperationRow } from '../store.ts';
import { tokensOf } from './books.ts';

type Ordered = Pick<StablecoinOperationRow, 'id' | 'type' | 'stablecoin_id' | 'amount'>;
type Moved = Ordered & Pick<StablecoinOperationRow, 'expired_at' | 'uncounted'>;

const TOO_MUCH: FieldError = {
  field: 'amount',
  message: `would make more than ${MAX_UNITS} of it, with all mints under way`,
};

/** Steps: `mint`, `burn`, and after the expiry `mint.late`, `burn.late`. */
function movementOf({ id, type, stablecoin_id, ...row }: Ordered & Partial<Moved>): TransferInput {
  const tokens = tokensOf(stablecoin_id, row.amount - (row.uncounted ?? 0n));
  const late = row.expired_at == null ? '' : '.late';
  const [issued, circulating] = [
    issuedTokensAccount(stablecoin_id),
    circulatingTokensAccount(stablecoin_id),
  ];
  const common = { transactionId: id, ...tokens };
  return type === 'MINT'
    ? { ...common, step: `mint${late}`, debit: issued, credit: circulating }
    : { ...common, step: `burn${late}`, debit: circulating, credit: issued };
}

const moreThanCirculates = (): Fault =>
  new Fault(
    'STABLECOIN_PROVIDER_ERROR',
    'Less of the stablecoin circulates than is to be burnt, other burns under way left out.',
  );

/** Holds the amount of an order; the commit fails if the supply is too low. */
export const setAside = (ctx: Ctx, row: Ordered): void =>
  ctx.hold({
    ...movementOf(row),
    insufficientFundsFault: () =>
      row.type === 'MINT' ? invalid([TOO_MUCH]) : moreThanCirculates(),
  });

function resolve(ctx: Ctx, verb: 'post' | 'void', row: Moved): void {
  const movement = movementOf(row);
  if (movement.amount > 0n) ctx[verb](movement);
}

/** Posts a completed order. */
export const carryOut = (ctx: Ctx, row: Moved): void => resolve(ctx, 'post', row);

/** Voids a failed order. */
export const giveBack = (ctx: Ctx, row: Moved): void => resolve(ctx, 'void', row);

/**
 * Holds again, or posts, what was voided at the expiry. The provider has completed it or will, so
 * nothing is rejected: the part that cannot be posted is returned and stored with the row.
 */
export async function takeLate(
  ctx: Ctx,
  row: Moved,
  verb: 'hold' | 'transfer',
): Promise<bigint | null> {
  const movement = movementOf(row);
  const account = await readLedgerAccount(ctx, movement.debit);
  if (!account) throw new Error(`${row.id}: no account ${movement.debit}`);
  const { currency, balance, held, floor } = account;
  const wanted = tokensOf(row.stablecoin_id, row.amount);
  const taken = lesser({ currency, amount: balance - held - (floor ?? 0n) }, wanted);
  if (taken.amount > 0n) ctx[verb]({ ...movement, ...taken, retryOnInsufficientFunds: true });
  return isLess(taken, wanted) ? subtract(wanted, taken).amount : null;
}
