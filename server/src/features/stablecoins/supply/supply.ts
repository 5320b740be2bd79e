// What mints and burns do to the books of a coin. Either is set aside when it is ordered, carried out when
// the provider has completed it and given back when it comes to nothing, so two floors hold at every moment
// and whoever orders at once: no more is burnt than circulates, and no more is issued than the books can
// count. One that was given back because nobody paid, and is paid for after all, moves under a step of its
// own and as far as the same floors let it.
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

/** The step is named by what it is: `mint`, `burn`, and after the order's time `mint.late`, `burn.late`. */
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

/** When it is ordered; refused where there is not so much. */
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

/** When the provider has done it. */
export const carryOut = (ctx: Ctx, row: Moved): void => resolve(ctx, 'post', row);

/** When it came to nothing. */
export const giveBack = (ctx: Ctx, row: Moved): void => resolve(ctx, 'void', row);

/**
 * Sets aside again, or moves at once, what was given back when its time was over. The provider has done it
 * or will, so nothing is refused: where less is there than it takes, the rest is answered, and kept with the
 * row as what our books could not follow.
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
