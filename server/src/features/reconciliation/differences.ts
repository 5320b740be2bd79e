// Lists of differences, their assignment to operators, and the metric of unsettled differences.
import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { equals } from '../../runtime/db/paging.ts';
import type { Metrics } from '../../runtime/observability/metrics.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { INSTALLATION } from '../tenancy/platform/index.ts';
import { DECISIONS_OF } from './decide.ts';
import { timeOrNull } from './sources.ts';
import { type Decision, type DifferenceKind, type DifferenceRow, differences } from './store.ts';

const HOUR_MS = 3_600_000;

/** Funds that are in suspense cannot be posted to suspense again. */
const isPossible = ({ status }: DifferenceRow, decision: Decision): boolean =>
  status !== 'IN_SUSPENSE' || decision !== 'SUSPENSE';

function presentDifference(row: DifferenceRow, now: number) {
  const { currency, amount } = row;
  const isFinal = row.status === 'DECIDED' || row.status === 'RESOLVED';
  return {
    differenceId: row.id,
    providerId: row.provider_id,
    environment: row.environment,
    day: row.day_id.slice(-10),
    kind: row.kind,
    status: row.status,
    currency,
    amount: Number(amount),
    readable: formatAmount({ currency, amount }),
    detail: row.detail,
    lineId: row.line_id === null ? null : row.line_id.slice(row.day_id.length + 1),
    transactionId: row.transaction_id,
    since: iso(row.created_at),
    ageHours: isFinal ? null : Math.floor((now - row.created_at) / HOUR_MS),
    ownerId: row.owner_id,
    note: row.note,
    decisions: isFinal ? [] : DECISIONS_OF[row.kind].filter((each) => isPossible(row, each)),
    decision: row.decision,
    reason: row.reason,
    decidedBy: row.decided_by,
    decidedAt: timeOrNull(row.decided_at),
  };
}

export type DifferenceView = ReturnType<typeof presentDifference>;

export interface DifferenceQuery {
  providerId?: string | undefined;
  status?: DifferenceRow['status'] | undefined;
  kind?: DifferenceKind | undefined;
  ownerId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A page of differences, oldest first. The default status is OPEN. */
export async function pageOfDifferences(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  { providerId, status = 'OPEN', kind, ownerId, limit, cursor }: DifferenceQuery,
) {
  const filters = equals({ provider_id: providerId, status, kind, owner_id: ownerId });
  const page = await db.page(differences, { filters, sort: 'asc', limit, cursor });
  const { rows, ...rest } = page;
  return { data: rows.map((each) => presentDifference(each, effects.now())), ...rest };
}

/** Throws NOT_FOUND. */
export async function differenceBy(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  differenceId: string,
): Promise<DifferenceView> {
  const row = await db.read(differences, differenceId);
  if (!row) throw new Fault('NOT_FOUND', 'Difference not found.');
  return presentDifference(row, effects.now());
}

interface Assignment {
  differenceId: string;
  /** ID of the responsible operator. Null removes the assignment. */
  ownerId?: string | null | undefined;
  note?: string | null | undefined;
}

/**
 * Sets the responsible operator of a difference, and a note. `isOperator` is a parameter because
 * this feature cannot import the feature staff. Throws NOT_FOUND, and INVALID_INPUT if `ownerId` is
 * no active operator.
 */
export async function assignDifference(
  runtime: Runtime,
  { differenceId, ownerId, note }: Assignment,
  isOperator: (id: string) => Promise<boolean>,
): Promise<DifferenceView> {
  if (ownerId && !(await isOperator(ownerId))) {
    throw invalidField('ownerId', 'must be the ID of an active operator');
  }
  await operate(runtime, INSTALLATION, async (ctx) => {
    const row = await ctx.read(differences, differenceId);
    if (!row) throw new Fault('NOT_FOUND', 'Difference not found.');
    ctx.update(differences, row, {
      ...(ownerId === undefined ? {} : { owner_id: ownerId }),
      ...(note === undefined ? {} : { note }),
      updated_at: ctx.now,
    });
  });
  return differenceBy(runtime, differenceId);
}

const COUNTS = `select kind, count(*)::int4 as count from reconciliation_differences
  where status in ('OPEN', 'CARRIED', 'IN_SUSPENSE') group by kind`;

async function countDifferences({ db }: Pick<Runtime, 'db'>): Promise<Map<string, number>> {
  const rows = await db.query<{ kind: string; count: number }>(COUNTS);
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

/** Publishes the number of differences that are not settled, by kind. */
export const watchDifferences = (
  metrics: Pick<Metrics, 'watchEach'>,
  runtime: Pick<Runtime, 'db'>,
): void =>
  metrics.watchEach(
    'railhead_reconciliation_differences',
    'Differences between provider statements and the ledger: open, carried or in suspense.',
    'kind',
    () => countDifferences(runtime),
  );
