// Reads audit records: pages, the export as JSON lines, a record with its changes, and the
// verification of the chain.
import type { Operator } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Database, equals, type Filter } from '../../../runtime/db/database.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { problemOf } from './chain.ts';
import type { Changes } from './changes.ts';
import { changesContext } from './record.ts';
import { openFor } from './sealed.ts';
import { type AuditRow, auditHead, HEAD, operatorAudit } from './store.ts';

/** The outcome of records without a stored outcome. */
const SUCCEEDED = 'SUCCEEDED';

/** An audit record without the values that were changed. */
export const presentRecord = (row: AuditRow) => ({
  id: row.id,
  number: Number(row.number),
  createdAt: iso(row.created_at),
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, roles: [...row.roles] },
  ...(row.address === null ? {} : { address: row.address }),
  ...(row.request_id === null ? {} : { requestId: row.request_id }),
  operationId: row.operation_id,
  ...(row.subject === null ? {} : { subject: row.subject }),
  ...(row.platform_id === null ? {} : { platformId: row.platform_id }),
  ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
  ...(row.reason === null ? {} : { reason: row.reason }),
  outcome: row.outcome ?? SUCCEEDED,
  hasChanges: row.changes !== null,
  previousHash: row.previous_hash,
  hash: row.hash,
});

interface AuditQuery {
  actorId?: string | undefined;
  operationId?: string | undefined;
  subject?: string | undefined;
  outcome?: string | undefined;
  customerId?: string | undefined;
  platformId?: string | undefined;
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
}

/** Conditions of a query, within the platforms of the operator. */
function filtersOf(query: AuditQuery, { platformIds }: Pick<Operator, 'platformIds'>) {
  const filters: Filter<typeof operatorAudit>[] = equals({
    actor_id: query.actorId,
    operation_id: query.operationId,
    subject: query.subject,
    customer_id: query.customerId,
    platform_id: query.platformId,
  });
  const { outcome, createdAfter, createdBefore } = query;
  if (outcome === SUCCEEDED) filters.push({ column: 'outcome', op: 'isNull' });
  else if (outcome !== undefined) filters.push({ column: 'outcome', op: '=', value: outcome });
  if (createdAfter !== undefined)
    filters.push({ column: 'created_at', op: '>=', value: Date.parse(createdAfter) });
  if (createdBefore !== undefined)
    filters.push({ column: 'created_at', op: '<=', value: Date.parse(createdBefore) });
  if (platformIds !== null)
    filters.push({ column: 'platform_id', op: 'in', value: [...platformIds] });
  return filters;
}

/** A page of records, newest first. */
export async function pageOfRecords(
  { db }: Pick<Runtime, 'db'>,
  operator: Pick<Operator, 'platformIds'>,
  { limit = 20, cursor, ...query }: AuditQuery & { limit?: number; cursor?: string },
) {
  const filters = filtersOf(query, operator);
  const { rows, ...rest } = await db.page(operatorAudit, { filters, sort: 'desc', limit, cursor });
  return { data: rows.map(presentRecord), ...rest };
}

const CHUNK_SIZE = 500;

/** Up to `limit` records with a number above `after`, in order. */
async function recordsAfter(
  { read, query }: Pick<Database, 'read' | 'query'>,
  after: bigint | number,
  limit = CHUNK_SIZE,
): Promise<AuditRow[]> {
  const idRows = await query(
    'select id from operator_audit where number > $1 order by number limit $2',
    [after, limit],
  );
  const rows = await Promise.all(idRows.map(({ id }) => read(operatorAudit, id as string)));
  return rows.filter((row) => row !== undefined);
}

/** A record without reasons and values. */
export type RecordHead = Pick<
  AuditRow,
  'number' | 'operation_id' | 'subject' | 'platform_id' | 'created_at'
> & { has_changes: boolean };

const HEADS_SQL = `select number, operation_id, subject, platform_id, created_at,
    changes is not null as has_changes
  from operator_audit where number > $1 order by number limit $2`;

/** Records for operators who follow the changes. */
export const recordHeads = {
  /** Up to `limit` records with a number above `after`, in order. */
  after: (db: Pick<Database, 'query'>, after: bigint, limit: number): Promise<RecordHead[]> =>
    db.query<RecordHead>(HEADS_SQL, [after, limit]),
  /** Number of the last record. 0 if there is none. */
  last: async (db: Pick<Database, 'read'>): Promise<bigint> =>
    (await db.read(auditHead, HEAD))?.number ?? 0n,
};

/** All records with a number above `after`, in order, in chunks. */
async function* allRecordsAfter(db: Database, after: number): AsyncGenerator<AuditRow[]> {
  let lastNumber: bigint | number = after;
  for (;;) {
    const rows: AuditRow[] = await recordsAfter(db, lastNumber);
    if (rows.length === 0) return;
    yield rows;
    lastNumber = rows.at(-1)?.number ?? lastNumber;
  }
}

const lineOf = (row: AuditRow) => `${JSON.stringify(presentRecord(row))}\n`;

/** Up to `limit` records with a number above `after`, oldest first, as JSON lines. */
export async function auditLines(
  { db }: Pick<Runtime, 'db'>,
  { platformIds }: Pick<Operator, 'platformIds'>,
  after: number,
  limit: number,
): Promise<{ lines: string; after: number; hasMore: boolean }> {
  const rows = await recordsAfter(db, after, limit);
  const visibleRows = rows.filter(
    ({ platform_id }) => platformIds === null || platformIds.includes(platform_id ?? ''),
  );
  return {
    lines: visibleRows.map(lineOf).join(''),
    after: Number(rows.at(-1)?.number ?? after),
    hasMore: rows.length === limit,
  };
}

/** All records with a number above `after`, oldest first, as JSON lines in chunks. */
export async function* allAuditLines(db: Database, after: number): AsyncGenerator<string> {
  for await (const rows of allRecordsAfter(db, after)) yield rows.map(lineOf).join('');
}

interface Verification {
  /** Number of records that were read. */
  records: number;
  /** Number and hash of the last record, to compare with a later verification. */
  last: { number: number; hash: string };
  problems: string[];
}

const MAX_PROBLEMS = 100;

/**
 * Verifies the chain from the first record to the last. `anchor` is the number and the hash of a
 * record that was stored outside of the database. With it, a chain that was truncated or rebuilt is
 * detected.
 */
export async function verifyAudit(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  anchor?: { number: number; hash: string },
): Promise<Verification> {
  // Read before the records, so that all records up to the head are included.
  const head = await db.read(auditHead, HEAD);
  const problems: string[] = [];
  let previousRecord = { number: 0n, hash: '' };
  let records = 0;
  let isAnchored = anchor === undefined;
  for await (const rows of allRecordsAfter(db, 0)) {
    for (const row of rows) {
      const problem = problemOf(vault, row, previousRecord);
      if (problem && problems.length < MAX_PROBLEMS) problems.push(problem);
      if (anchor && row.number === BigInt(anchor.number) && row.hash === anchor.hash)
        isAnchored = true;
      previousRecord = row;
      records++;
    }
  }
  if (!isAnchored)
    problems.push(`record ${anchor?.number} differs from the expected number and hash`);
  const lastRecord = { number: Number(previousRecord.number), hash: previousRecord.hash };
  if (!head) problems.push('the head is missing');
  else if (head.number > previousRecord.number) {
    problems.push(`records after ${lastRecord.number} are missing, up to ${head.number}`);
  } else if (head.number === previousRecord.number && head.hash !== previousRecord.hash) {
    problems.push('the head does not have the hash of the last record');
  }
  return { records, last: lastRecord, problems };
}

/** A record of a platform that the operator may access. Throws NOT_FOUND. */
export async function auditRecordById(
  { db }: Pick<Runtime, 'db'>,
  { platformIds }: Pick<Operator, 'platformIds'>,
  id: string,
): Promise<AuditRow> {
  const row = isId(id, 'AuditRecord') ? await db.read(operatorAudit, id) : undefined;
  const isVisible = platformIds === null || platformIds.includes(row?.platform_id ?? '');
  if (!row || !isVisible) throw new Fault('NOT_FOUND', 'Audit record not found.');
  return row;
}

/** The changes of a record, or undefined if it has none, or if the customer was erased. */
export async function changesOfRecord(
  runtime: Pick<Runtime, 'db' | 'vault'>,
  { id, customer_id, changes }: AuditRow,
): Promise<Changes | undefined> {
  if (changes === null) return undefined;
  const text = await openFor(runtime, customer_id, changes, changesContext(id));
  return text === undefined ? undefined : (JSON.parse(text) as Changes);
}
