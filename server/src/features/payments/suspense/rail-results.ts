// The operator's queue of awaited results of manual rails. The step that submits a transfer writes the row,
// and the step that applies the result removes it. Without the queue, a query by status would need an index
// on columns that change with every step. A row can remain after its payment is final, so lists of the
// queue also check the payment.

import type { Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import { assertNever } from '../../../kernel/assert-never.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { TransactionRow } from '../transactions/index.ts';

export type WaitKind = RailInstruction['kind'];

/** `id` is the ID of the transaction. A transaction has at most one external transfer in progress. */
const awaitedRailResults = table(
  'awaited_rail_results',
  {
    id: col.text,
    platform_id: col.text,
    kind: col.enum<WaitKind>().mut,
    since: col.time.mut,
    version: col.int4,
  },
  { contendedKeys: ['awaited_rail_results_pkey'] },
);

export type WaitRow = RowOf<typeof awaitedRailResults>;

/** Results and decisions that operators recorded or providers reported, with the bank reference. */
const railResults = table(
  'rail_results',
  {
    id: col.text,
    transaction_id: col.text,
    /** `suspense`: a decision on funds in suspense. `card`: on a card payment or its funding debit. */
    kind: col.enum<WaitKind | 'suspense' | 'card'>(),
    state: col.enum<Progress['state']>(),
    reference: col.text.null,
    reason: col.text.null,
    created_at: col.time,
  },
  {
    unique: { rail_results_pkey: () => new Fault('CONFLICT', 'This result is already recorded.') },
  },
);

/** Queues a transfer whose result an operator records or a provider reports. */
export async function awaitRailResult(
  ctx: Ctx,
  row: TransactionRow,
  kind: WaitKind,
): Promise<void> {
  const waitRow = await ctx.read(awaitedRailResults, row.id);
  if (waitRow) ctx.update(awaitedRailResults, waitRow, { kind, since: ctx.now });
  else
    ctx.insert(awaitedRailResults, {
      id: row.id,
      platform_id: row.platform_id,
      kind,
      since: ctx.now,
    });
}

interface RailResult {
  kind: 'suspense' | 'card' | WaitKind;
  /** Unique within transaction and kind, so that each result is recorded once. */
  name: string;
  state: Progress['state'];
  reference?: string | null | undefined;
  reason?: string | null | undefined;
}

/** Stages the record of a result. The commit fails with CONFLICT if the result is already recorded. */
export const recordRailResult = (
  ctx: Ctx,
  { id }: { id: string },
  { kind, name, state, reference = null, reason = null }: RailResult,
): unknown =>
  ctx.insert(railResults, {
    id: `${id}/${kind}/${name}`,
    transaction_id: id,
    ...{ kind, state, reference, reason },
    created_at: ctx.now,
  });

/** The first 100 results that were recorded for a transaction, oldest first. */
export async function railResultsOf(
  db: Pick<Database, 'query'>,
  transactionId: string,
): Promise<Omit<RowOf<typeof railResults>, 'id' | 'transaction_id'>[]> {
  // IDs begin with the ID of the transaction. `0` is the character after the slash.
  const range = [`${transactionId}/`, `${transactionId}0`];
  return db.query(RESULTS, range);
}

const RESULTS_BY_REFERENCE = `select transaction_id as "transactionId", kind, reference from rail_results
  where reference = any($1::text[]) and kind in ('payout', 'debit', 'refund')`;
const RETURNED_RESULTS = `select transaction_id as "transactionId", kind, reference from rail_results
  where state = 'returned' and created_at >= $1 and created_at < $2 and kind in ('payout', 'debit')
  order by created_at, id`;

interface ReportedResult {
  transactionId: string;
  kind: WaitKind;
  reference: string | null;
}

/** Results that statements are compared with. The SQL is exported for tests of its query plans. */
export const reportedResults = {
  statements: { BY_REFERENCE: RESULTS_BY_REFERENCE, RETURNED: RETURNED_RESULTS },
  /** Results with one of these references of a bank. */
  byReferences: (
    { query }: Pick<Database, 'query'>,
    references: readonly string[],
  ): Promise<ReportedResult[]> => query(RESULTS_BY_REFERENCE, [[...references]]),
  /** Returns that were recorded in a period. */
  returnedIn: (
    { query }: Pick<Database, 'query'>,
    [from, to]: readonly [Time, Time],
  ): Promise<ReportedResult[]> => query(RETURNED_RESULTS, [new Date(from), new Date(to)]),
  /** Whether a return of the transfer was recorded. */
  isReturned: async (
    { read }: Pick<Database, 'read'>,
    transactionId: string,
    kind: WaitKind,
  ): Promise<boolean> =>
    (await read(railResults, `${transactionId}/${kind}/returned`)) !== undefined,
};

const RESULTS = `select kind, state, reference, reason, created_at from rail_results
  where id > $1 and id < $2 order by created_at, id limit 100`;

export const awaitedResultOf = (
  { read }: Pick<Ctx, 'read'>,
  { id }: { id: string },
): Promise<WaitRow | undefined> => read(awaitedRailResults, id);

/** Records a result and removes its awaited row, if any. */
export async function recordNotice(
  ctx: Ctx,
  transactionId: string,
  kind: WaitKind,
  progress: Progress,
): Promise<void> {
  const awaitedRow = await ctx.read(awaitedRailResults, transactionId);
  if (awaitedRow?.kind === kind) ctx.remove(awaitedRailResults, awaitedRow);
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

/** Whether the transaction still awaits the result of this transfer. */
export function isExpected(row: TransactionRow, kind: WaitKind): boolean {
  const { status, funds, refund } = row;
  switch (kind) {
    case 'refund':
      return refund?.status === 'PENDING';
    case 'payout':
      // HELD before the rail has accepted the payout, also if the sending job was canceled.
      return !refund && status === 'PROCESSING' && (funds === 'SUBMITTED' || funds === 'HELD');
    case 'debit':
      if (refund || (status !== 'PENDING' && status !== 'PROCESSING')) return false;
      return funds === 'AWAITED' || (row.type === 'INCOMING' && funds === 'HELD');
    default:
      return assertNever(kind, 'kind of transfer');
  }
}
