// What an owner owes us: money that has to leave an account again after it was spent, such as a deposit
// that a bank took back. An account never goes below zero: what it lacks comes from the house's receivable
// account and is noted on the account, so that the one is always the sum of the other. The next money in
// pays it off first, and until then the account cannot pay. Whoever stages this tells about the balances.
import { Fault } from '../../../kernel/fault.ts';
import { house } from '../../../ledger/chart.ts';
import type { TransferRow } from '../../../ledger/transfer.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type InternalAccountRow, setOwed, stagedAccount } from '../internal-accounts/index.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';

/** One step of a transaction, by an amount of smallest units. */
interface Shortfall {
  transactionId: string;
  step: string;
  amount: bigint;
}

const OWED = '.owed';

/** What a transfer does to what can be spent of an account. */
function change(id: string, { phase, debit, credit, amount }: TransferRow): bigint {
  if (debit === id && (phase === 'posted' || phase === 'pending')) return -amount;
  if (debit === id && phase === 'release') return amount;
  return credit === id && (phase === 'posted' || phase === 'post') ? amount : 0n;
}

/** What can be spent, after everything that this change set moves. */
async function spendable(ctx: Ctx, id: string): Promise<bigint> {
  const read = await readLedgerAccount(ctx, id);
  const start = read ? read.balance - read.held : 0n;
  return ctx.set.transfers.reduce((sum, each) => sum + change(id, each), start);
}

const receivable = (ctx: Ctx, { currency }: InternalAccountRow) =>
  house(ctx.caller.environment, 'receivable', currency);

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
export async function takeBack(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, amount, creditTo }: Shortfall & { creditTo: string },
): Promise<{ account: InternalAccountRow; lacking: bigint }> {
  const there = await spendable(ctx, account.id);
  const taken = there <= 0n ? 0n : there < amount ? there : amount;
  const lacking = amount - taken;
  const { currency } = account;
  const movement = { transactionId, credit: creditTo, currency, force: true };
  if (taken > 0n) ctx.transfer({ ...movement, step, debit: account.id, amount: taken });
  if (lacking === 0n) return { account: stagedAccount(ctx, account), lacking };
  const debit = receivable(ctx, account);
  ctx.transfer({ ...movement, step: step + OWED, debit, amount: lacking });
  return { account: owe(ctx, account, lacking), lacking };
}

/**
 * Pays off what the account owes with money that the same change set has just put in: up to `amount`.
 * Answers the account as it then is, and what was paid.
 */
export function repayOwed(
  ctx: Ctx,
  account: InternalAccountRow,
  { transactionId, step, amount }: Shortfall,
): { account: InternalAccountRow; repaid: bigint } {
  const { owed } = stagedAccount(ctx, account);
  const repaid = owed < amount ? owed : amount;
  if (repaid <= 0n) return { account: stagedAccount(ctx, account), repaid: 0n };
  ctx.transfer({
    transactionId,
    step,
    debit: account.id,
    credit: receivable(ctx, account),
    currency: account.currency,
    amount: repaid,
    force: true,
  });
  return { account: owe(ctx, account, -repaid), repaid };
}

/** An account that owes cannot pay, whatever has come free in it since. */
export function refuseOwing({ id, owed }: InternalAccountRow): void {
  if (owed === 0n) return;
  const reason = 'The account owes money that came back. It can pay once that is repaid.';
  throw new Fault('INSUFFICIENT_FUNDS', reason, { accountId: id });
}
