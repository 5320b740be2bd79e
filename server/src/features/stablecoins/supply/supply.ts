// Postings of mints and burns. An amount is held when ordered, posted on completion and voided on
// failure. Two floors therefore apply under concurrency: burns never exceed the circulating supply,
// and mints never exceed the maximum of the ledger. An operation that expired and is paid late is
// posted as a separate step, as far as the floors allow.
import type { FieldError } from '../../../kernel/fault.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isLess, smallerOf, subtract } from '../../../kernel/money.ts';
import { circulatingTokensAccount, issuedTokensAccount } from '../../../ledger/chart.ts';
import type { Ctx, TransferInput } from '../../../runtime/operation/context.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { MAX_UNITS } from '../minting/validation.ts';
import type { StablecoinOperationRow } from '../store.ts';
import { tokensOf } from './supply-accounts.ts';

type SupplyOrder = Pick<StablecoinOperationRow, 'id' | 'type' | 'stablecoin_id' | 'amount'>;
type HeldOrder = SupplyOrder & Pick<StablecoinOperationRow, 'expired_at' | 'uncounted'>;

const MAXIMUM_EXCEEDED: FieldError = {
  field: 'amount',
  message: `would exceed the maximum supply of ${MAX_UNITS}, pending mints included`,
};

/** Steps: `mint`, `burn`, and after the expiry `mint.late`, `burn.late`. */
function transferOf({
  id,
  type,
  stablecoin_id,
  ...row
}: SupplyOrder & Partial<HeldOrder>): TransferInput {
  const tokens = tokensOf(stablecoin_id, row.amount - (row.uncounted ?? 0n));
  const suffix = row.expired_at == null ? '' : '.late';
  const [issuedTokens, circulating] = [
    issuedTokensAccount(stablecoin_id),
    circulatingTokensAccount(stablecoin_id),
  ];
  const commonFields = { transactionId: id, ...tokens };
  return type === 'MINT'
    ? { ...commonFields, step: `mint${suffix}`, debit: issuedTokens, credit: circulating }
    : { ...commonFields, step: `burn${suffix}`, debit: circulating, credit: issuedTokens };
}

const supplyExceededFault = (): Fault =>
  new Fault(
    'STABLECOIN_PROVIDER_ERROR',
    'The amount exceeds the circulating supply, less pending burns.',
  );

/**
 * Holds the amount of an order. The commit fails if a burn exceeds the circulating supply, or if a
 * mint exceeds the maximum supply.
 */
export const holdTokens = (ctx: Ctx, row: SupplyOrder): void =>
  ctx.hold({
    ...transferOf(row),
    insufficientFundsFault: () =>
      row.type === 'MINT' ? invalid([MAXIMUM_EXCEEDED]) : supplyExceededFault(),
  });

function resolve(ctx: Ctx, verb: 'post' | 'void', row: HeldOrder): void {
  const transfer = transferOf(row);
  if (transfer.amount > 0n) ctx[verb](transfer);
}

/** Posts a completed order. */
export const postHold = (ctx: Ctx, row: HeldOrder): void => resolve(ctx, 'post', row);

/** Voids a failed or expired order. */
export const voidHold = (ctx: Ctx, row: HeldOrder): void => resolve(ctx, 'void', row);

/**
 * Holds again, or posts, the amount that was voided at the expiry. The part that cannot be posted
 * is stored with the row, because the provider executes the order. Returns this part, or null if
 * the whole amount is posted.
 */
export async function postLate(
  ctx: Ctx,
  row: HeldOrder,
  verb: 'hold' | 'transfer',
): Promise<bigint | null> {
  const transfer = transferOf(row);
  const account = await readLedgerAccount(ctx, transfer.debit);
  if (!account) throw new Error(`${row.id}: no account ${transfer.debit}`);
  const { currency, balance, held, floor } = account;
  const amount = tokensOf(row.stablecoin_id, row.amount);
  const available = smallerOf({ currency, amount: balance - held - (floor ?? 0n) }, amount);
  if (available.amount > 0n)
    ctx[verb]({ ...transfer, ...available, retryOnInsufficientFunds: true });
  return isLess(available, amount) ? subtract(amount, available).amount : null;
}
