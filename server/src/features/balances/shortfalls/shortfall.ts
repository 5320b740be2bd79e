// Shortfalls: funds that must be debited from an account after they were spent, such as a deposit
// that a bank reversed. The missing amount is debited from the receivable system account and
// recorded on the internal account. The balance of the receivable account is therefore the negative
// sum of all shortfalls. The account can pay again after later credits have repaid its shortfall.
import { Fault } from '../../../kernel/fault.ts';
import { type Money, smallerOf, subtract } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import type { TransferRow } from '../../../ledger/transfer.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findStagedAccount, type InternalAccountRow, setOwed } from '../internal-accounts/index.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';

/** One step of a transaction, in the currency of the account. */
interface StepAmount extends Money {
  transactionId: string;
  step: string;
}

const OWED_SUFFIX = '.owed';

/** Change of the available balance by a transfer. */
function balanceChangeOf(id: string, { phase, debit, credit, amount }: TransferRow): bigint {
  if (debit === id && (phase === 'posted' || phase === 'pending')) return -amount;
  if (debit === id && phase === 'void') return amount;
  return credit === id && (phase === 'posted' || phase === 'post') ? amount : 0n;
}

/** The available balance after all transfers of this change set. */
async function readAvailableBalance(ctx: Ctx, id: string): Promise<bigint> {
  const account = await readLedgerAccount(ctx, id);
  const start = account ? account.balance - account.held : 0n;
  return ctx.set.transfers.reduce((sum, each) => sum + balanceChangeOf(id, each), start);
}

const receivableAccountOf = (ctx: Ctx, { currency }: InternalAccountRow) =>
  systemAccount(ctx.caller.environment, 'receivable', currency);

function adjustShortfall(
  ctx: Ctx,
  account: InternalAccountRow,
  increase: bigint,
): InternalAccountRow {
  const { owed } = findStagedAccount(ctx, account);
  return setOwed(ctx, account, owed + increase);
}

/**
 * Debits an amount from an account in favor of `creditTo`, regardless of balance and status. The
 * available amount is posted under `step`. The missing amount becomes a shortfall, under `step`
 * with the suffix `.owed`. Returns the updated account and the missing amount. The caller emits the
 * balance event. If the balance falls before the commit, the commit is rejected. A job then runs
 * again.
 */
export async function debitWithShortfall(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, currency, amount, creditTo }: StepAmount & { creditTo: string },
): Promise<{ account: InternalAccountRow; shortfall: bigint }> {
  const availableBalance = await readAvailableBalance(ctx, account.id);
  const requestedAmount: Money = { currency, amount };
  const availableAmount: Money = {
    currency: account.currency,
    amount: availableBalance > 0n ? availableBalance : 0n,
  };
  const debitedAmount = smallerOf(availableAmount, requestedAmount);
  const missingAmount = subtract(requestedAmount, debitedAmount);
  const posting = { transactionId, credit: creditTo, force: true };
  if (debitedAmount.amount > 0n)
    ctx.transfer({ ...posting, ...debitedAmount, step, debit: account.id });
  if (missingAmount.amount === 0n)
    return { account: findStagedAccount(ctx, account), shortfall: 0n };
  const debit = receivableAccountOf(ctx, account);
  ctx.transfer({ ...posting, ...missingAmount, step: step + OWED_SUFFIX, debit });
  return {
    account: adjustShortfall(ctx, account, missingAmount.amount),
    shortfall: missingAmount.amount,
  };
}

/**
 * Repays the shortfall of an account from a credit in the same change set. Returns the updated
 * account and the repaid amount. The caller emits the balance event.
 */
export function repayShortfall(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, currency, amount }: StepAmount,
): { account: InternalAccountRow; repaid: bigint } {
  const { owed: amountOwed } = findStagedAccount(ctx, account);
  const owedMoney: Money = { currency: account.currency, amount: amountOwed };
  const repaidAmount = smallerOf(owedMoney, { currency, amount });
  if (repaidAmount.amount <= 0n) return { account: findStagedAccount(ctx, account), repaid: 0n };
  ctx.transfer({
    transactionId,
    step,
    debit: account.id,
    credit: receivableAccountOf(ctx, account),
    ...repaidAmount,
    force: true,
  });
  return {
    account: adjustShortfall(ctx, account, -repaidAmount.amount),
    repaid: repaidAmount.amount,
  };
}

/**
 * Throws INSUFFICIENT_FUNDS if the account has a shortfall, regardless of its available balance.
 */
export function checkNoShortfall({ id, owed }: InternalAccountRow): void {
  if (owed === 0n) return;
  const reason = 'The account has a shortfall from a returned payment. Fund the account first.';
  throw new Fault('INSUFFICIENT_FUNDS', reason, { accountId: id });
}
