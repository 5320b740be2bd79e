// Money on the operator's own bank statement or wallet, recorded by hand. Each entry of a statement has the
// bank's own reference, which is its key here: recorded twice, it is taken in once. A deposit is for an
// account, or for the payment whose reference its payer used.
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import {
  hasDepositPosting,
  isHeld,
  releaseDeposit,
  returnHeldDeposit,
  reverseDeposit,
} from '../pay-ins/index.ts';
import { type Notice, reverseFunding, takeDeposit } from '../quotes/index.ts';
import { transactionOfReference } from '../suspense/index.ts';
import {
  type FailureReason,
  type IncomingRow,
  type OutgoingRow,
  readTransaction,
  type TransactionRow,
  transactionAt,
} from '../transactions/index.ts';
import { conflict, onAnyTransaction } from './notice.ts';

// Entries of an operator's bank statements that were recorded as deposits.

/** The id is environment, currency and the bank's reference, so that an entry is recorded once. */
const deposits = table(
  'deposits',
  {
    id: col.text,
    platform_id: col.text,
    transaction_id: col.text,
    currency: col.text,
    amount: col.int8,
    target: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

type DepositRow = RowOf<typeof deposits>;

/** Whose platform the target belongs to. */
async function platformAt(runtime: Runtime, target: Pick<Notice, 'accountId' | 'reference'>) {
  const { accountId, reference = '' } = target;
  const owner =
    accountId === undefined
      ? await readTransaction(runtime.db, transactionOfReference(reference) ?? '')
      : await readInternalAccount(runtime.db, accountId);
  const platform = owner && (await readPlatform(runtime.db, owner.platform_id));
  if (platform) return platform;
  if (accountId === undefined)
    throw new Fault('REFERENCE_NOT_FOUND', 'Payment reference not found.');
  throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
}

async function resultOf(runtime: Runtime, id: string, recorded?: 'now' | 'before') {
  const row = await transactionAt(runtime.db, id);
  return {
    transactionId: id,
    type: row.type,
    status: row.status,
    pendingReason: row.pending_reason,
    ...(recorded ? { recorded } : {}),
  };
}

export type DepositResult = Awaited<ReturnType<typeof resultOf>>;

/** The same entry again: fine when it says the same. */
function same(before: DepositRow, wanted: Pick<DepositRow, 'amount' | 'target'>): void {
  if (before.amount === wanted.amount && before.target === wanted.target) return;
  throw conflict(
    `This bank reference is already recorded for another deposit: ${before.transaction_id}.`,
  );
}

interface DepositInput {
  /** The bank's own reference of the entry. */
  bankReference: string;
  notice: Notice;
}

/**
 * Takes in money that has arrived, once for each bank reference. Throws ACCOUNT_NOT_FOUND,
 * REFERENCE_NOT_FOUND, and CONFLICT where the reference was recorded as another deposit.
 */
export async function recordDeposit(
  runtime: Runtime,
  { bankReference, notice }: DepositInput,
): Promise<DepositResult> {
  const platform = await platformAt(runtime, notice);
  const { currency, amount } = notice;
  const target = (notice.accountId ?? notice.reference) as string;
  const id = `${platform.environment}/${currency}/${bankReference}`;
  const wanted = { amount, target };
  const known = async () => {
    const before = await runtime.db.read(deposits, id);
    if (before) same(before, wanted);
    return before;
  };
  const before = await known();
  if (before) return resultOf(runtime, before.transaction_id, 'before');
  const caller = systemCaller(platform.id, platform.environment);
  try {
    const row = await operate(runtime, caller, async (ctx) => {
      const taken = await takeDeposit(ctx, notice);
      const entry = { id, platform_id: platform.id, transaction_id: taken.id };
      ctx.insert(deposits, { ...entry, ...wanted, currency, created_at: ctx.now });
      return taken;
    });
    return resultOf(runtime, row.id, 'now');
  } catch (error) {
    const other = isKeyTaken(error) ? await known() : undefined;
    if (!other) throw error;
    return resultOf(runtime, other.transaction_id, 'before');
  }
}

const isDeposit = ({ source }: TransactionRow) => source.sourceType === 'REALTIME_FUNDING';

/** Whether it lies on its account until somebody decides; a pull or a UMA payment may, too. */
const waitsForUs = (row: IncomingRow) => isHeld(row) && row.pending_reason !== null;

interface DecisionInput {
  transactionId: string;
  /** Why; what the step assumes where absent. */
  reason?: FailureReason | undefined;
}

type Step = (
  ctx: Ctx,
  row: IncomingRow,
  reason?: FailureReason | undefined,
) => Promise<IncomingRow>;

/** Takes a step; throws CONFLICT where the state of the row forbids it. */
async function take(
  work: Step,
  ctx: Ctx,
  row: TransactionRow,
  reason: FailureReason | undefined,
): Promise<void> {
  if (row.type !== 'INCOMING' || !(isDeposit(row) || waitsForUs(row))) {
    throw conflict('The transaction is not a deposit.');
  }
  const { status, funds } = row;
  const moved = await work(ctx, row, reason);
  if (moved.status === status && moved.funds === funds) {
    throw conflict(`This action is not possible: the deposit is ${status}.`);
  }
}

/** Decides about money that is held. No bank has a say in it, so this works in the sandbox too. */
const decide =
  (work: Step) =>
  async (runtime: Runtime, { transactionId, reason }: DecisionInput): Promise<DepositResult> => {
    await onAnyTransaction(runtime, transactionId, (ctx, row) => take(work, ctx, row, reason));
    return resultOf(runtime, transactionId);
  };

/** Lets a held deposit be spent. */
export const releaseHeldDeposit = decide(releaseDeposit);
/** Sends a held deposit back. */
export const rejectHeldDeposit = decide(returnHeldDeposit);

/** Money that was paid in for one payment: its payer answers for it, and the payment stays. */
async function reversePaymentFunding(ctx: Ctx, row: OutgoingRow): Promise<void> {
  if (!isDeposit(row) || row.funded_amount === null)
    throw conflict('The transaction is not a deposit.');
  if (row.refund?.status === 'PENDING') {
    throw conflict('The refund is in progress. Record its settlement with payouts settle first.');
  }
  if (!(await reverseFunding(ctx, row))) throw conflict('The return is already recorded.');
}

/**
 * The bank has taken a deposit back, whatever it was for. The sandbox's bank never does so by itself, so
 * there nothing is contradicted either.
 */
export async function recordDepositReturn(
  runtime: Runtime,
  { transactionId, reason }: DecisionInput,
): Promise<DepositResult> {
  await onAnyTransaction(runtime, transactionId, async (ctx, row) => {
    if (row.type === 'OUTGOING') return reversePaymentFunding(ctx, row);
    if (row.status === 'COMPLETED' && isDeposit(row) && !(await hasDepositPosting(ctx, row))) {
      const why = 'The funds came from an internal payment.';
      throw conflict(`${why} Return the deposit that funded ${row.quote_id}.`);
    }
    return take(reverseDeposit, ctx, row, reason);
  });
  return resultOf(runtime, transactionId);
}
