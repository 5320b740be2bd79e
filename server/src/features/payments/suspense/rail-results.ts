// What waits for word from a bank that sends no word by itself: the queue of an operator who carries
// payments by hand. A row is written with the step that begins to wait and removed with the one that ends
// it, so a rail that names the time to ask again, as the sandbox does, pays nothing for it. To find the
// same by status would need an index on columns of `transactions` that change with every step, and the
// rows of jobs are those that a machine is to do. A row that outlived its payment harms nobody: whoever
// reads the queue looks at the payment too.

import type { Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { TransactionRow } from '../transactions/index.ts';

export type WaitKind = RailInstruction['kind'];

/** The id is the transaction's: of one transaction at most one movement is under way outside. */
const awaitedRailResults = table(
  'awaited_rail_results',
  {
    id: col.text,
    platform_id: col.text,
    kind: col.word<WaitKind>().mut,
    since: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['awaited_rail_results_pkey'] },
);

export type WaitRow = RowOf<typeof awaitedRailResults>;

/** What a person said about a movement, and the bank's own reference for it. */
const railResults = table(
  'rail_results',
  {
    id: col.text,
    transaction_id: col.text,
    /** What a person decided: `suspense` about money in suspense, `card` about a card payment or its pull. */
    kind: col.word<WaitKind | 'suspense' | 'card'>(),
    state: col.word<Progress['state']>(),
    reference: col.text.null,
    reason: col.text.null,
    created_at: col.time,
  },
  {
    unique: { rail_results_pkey: () => new Fault('CONFLICT', 'This result is already recorded.') },
  },
);

/** A rail has taken an instruction and will say by a notice what became of it. */
export async function awaitRailResult(
  ctx: Ctx,
  row: TransactionRow,
  kind: WaitKind,
): Promise<void> {
  const before = await ctx.read(awaitedRailResults, row.id);
  if (before) ctx.update(awaitedRailResults, before, { kind, since: ctx.now });
  else
    ctx.insert(awaitedRailResults, {
      id: row.id,
      platform_id: row.platform_id,
      kind,
      since: ctx.now,
    });
}

interface Notice {
  kind: 'suspense' | 'card' | WaitKind;
  /** Its name among the notices of its kind: each is taken once. */
  name: string;
  state: Progress['state'];
  reference?: string | null | undefined;
  reason?: string | null | undefined;
}

/** Stages the record of a notice about a transaction. CONFLICT at the commit where it was taken before. */
export const recordRailResult = (
  ctx: Ctx,
  { id }: { id: string },
  { kind, name, state, reference = null, reason = null }: Notice,
): unknown =>
  ctx.insert(railResults, {
    id: `${id}/${kind}/${name}`,
    transaction_id: id,
    ...{ kind, state, reference, reason },
    created_at: ctx.now,
  });

/** What is awaited of a transaction. */
export const awaitedResultOf = (ctx: Ctx, { id }: { id: string }): Promise<WaitRow | undefined> =>
  ctx.read(awaitedRailResults, id);

/** Keeps what the notice said and ends the wait for it, where there was one. */
export async function recordNotice(
  ctx: Ctx,
  transactionId: string,
  kind: WaitKind,
  progress: Progress,
): Promise<void> {
  const wait = await ctx.read(awaitedRailResults, transactionId);
  if (wait?.kind === kind) ctx.remove(awaitedRailResults, wait);
  recordRailResult(
    ctx,
    { id: transactionId },
    {
      ...{ kind, name: progress.state, state: progress.state },
      reference: 'reference' in progress ? progress.reference : undefined,
      reason: 'reason' in progress ? progress.reason : undefined,
    },
  );
}

/** Whether a movement of this kind is still wanted of the transaction. */
export function isExpected(row: TransactionRow, kind: WaitKind): boolean {
  const { status, funds, refund } = row;
  switch (kind) {
    case 'refund':
      return refund?.status === 'PENDING';
    case 'payout':
      // Still HELD where the job that sent it was cancelled without an answer of the rail.
      return !refund && status === 'PROCESSING' && (funds === 'SUBMITTED' || funds === 'HELD');
    case 'pull':
      if (refund || (status !== 'PENDING' && status !== 'PROCESSING')) return false;
      return funds === 'AWAITED' || (row.type === 'INCOMING' && funds === 'HELD');
    default:
      return assertNever(kind, 'kind of transfer');
  }
}
