// What an owner owes us: money that has to leave an account again after it was spent, such as a deposit
// that a bank took back. An account never goes below zero: what it lacks comes from the house's receivable
// account and is noted on the account, so that the one is always the sum of the other. The next money in
// pays it off first, and until then the account cannot pay. Whoever stages this tells about the balances.
import { Fault } from '../../../kernel/fault.ts';
import { lesser, type Money, subtract } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import type { TransferRow } from '../../../ledger/transfer.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type InternalAccountRow, setOwed, stagedAccount } from '../internal-accounts/index.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';

/** One step of a transaction, in the currency of the account. */
interface Shortfall extends Money {
  transactionId: string;
  step: string;
}

const OWED = '.owed';

/** What a transfer does to what can be spent of an account. */
function change(id: string, { phase, debit, credit, amount }: TransferRow): bigint {
  if (debit === id && (phase === 'posted' || phase === 'pending')) return -amount;
  if (debit === id && phase === 'void') return amount;
  return credit === id && (phase === 'posted' || phase === 'post') ? amount : 0n;
}

/** What can be spent, after everything that this change set moves. */
async function spendable(ctx: Ctx, id: string): Promise<bigint> {
  const read = await readLedgerAccount(ctx, id);
  const start = read ? read.balance - read.held : 0n;
  return ctx.set.transfers.reduce((sum, each) => sum + change(id, each), start);
}

const receivable = (ctx: Ctx, { currency }: InternalAccountRow) =>
  systemAccount(ctx.caller.environment, 'receivable', currency);

function owe(ctx: Ctx, account: InternalAccountRow, more: bigint): InternalAccountRow {
  const { owed } = stagedAccount(ctx, account);
  return setOwed(ctx, account, owed + more);
}

/**
 * Takes an amount from an account for `creditTo`, whether it is there or not and whatever state the
 * account is in. What can be spent leaves it under `step`; the rest is owed, under the step with `.owed`
 * behind it. Answers the account as it then is, and the part that it could not pay. The balance is as read:
 * when it falls meanwhile the commit is refused, and whoever does this as a job does it again.
 */
export async function debitWithShortfall(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, currency, amount, creditTo }: Shortfall & { creditTo: string },
): Promise<{ account: InternalAccountRow; lacking: bigint }> {
  const there = await spendable(ctx, account.id);
  const asked: Money = { currency, amount };
  const free: Money = { currency: account.currency, amount: there > 0n ? there : 0n };
  const taken = lesser(free, asked);
  const lacking = subtract(asked, taken);
  const movement = { transactionId, credit: creditTo, force: true };
  if (taken.amount > 0n) ctx.transfer({ ...movement, ...taken, step, debit: account.id });
  if (lacking.amount === 0n) return { account: stagedAccount(ctx, account), lacking: 0n };
  const debit = receivable(ctx, account);
  ctx.transfer({ ...movement, ...lacking, step: step + OWED, debit });
  return { account: owe(ctx, account, lacking.amount), lacking: lacking.amount };
}

/**
 * Pays off what the account owes with money that the same change set has just put in, at most all of it.
 * Answers the account as it then is, and what was paid.
 */
export function repayShortfall(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, currency, amount }: Shortfall,
): { account: InternalAccountRow; repaid: bigint } {
  const owed: Money = { currency: account.currency, amount: stagedAccount(ctx, account).owed };
  const repaid = lesser(owed, { currency, amount });
  if (repaid.amount <= 0n) return { account: stagedAccount(ctx, account), repaid: 0n };
  ctx.transfer({
    transactionId,
    step,
    debit: account.id,
    credit: receivable(ctx, account),
    ...repaid,
    force: true,
  });
  return { account: owe(ctx, account, -repaid.amount), repaid: repaid.amount };
}

/** An account that owes cannot pay, whatever has come free in it since. */
export function checkNoShortfall({ id, owed }: InternalAccountRow): void {
  if (owed === 0n) return;
  const reason = 'The account has a shortfall from a returned payment. Fund the account first.';
  throw new Fault('INSUFFICIENT_FUNDS', reason, { accountId: id });
}
