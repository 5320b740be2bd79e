// Histories are partitioned by week of real time, so that old rows are removed with their table. Events and
// their attempts are partitioned by the ID of the event, which begins with its time, so a statement by ID
// reads one partition. Partitions are created in advance. A row without a partition is stored in the
// default partition, and is moved when its partition is created.
import type pg from 'pg';
import type { Time } from '../../../kernel/effects.ts';
import { idsFrom, timeOfId } from '../../../kernel/id.ts';
import { parseTime } from '../decode.ts';

interface PartitionedTable {
  name: string;
  /** Column of the partition key. */
  key: string;
  /** Resource of the IDs in the key, or undefined if the key is a time. */
  resource?: string;
}

export const PARTITIONED_TABLES = [
  { name: 'events', key: 'id', resource: 'Webhook' },
  { name: 'webhook_attempts', key: 'event_id', resource: 'Webhook' },
  { name: 'api_requests', key: 'created_at' },
  { name: 'api_request_bodies', key: 'created_at' },
  { name: 'api_request_reads', key: 'last_at' },
] as const satisfies readonly PartitionedTable[];

export type PartitionedName = (typeof PARTITIONED_TABLES)[number]['name'];

const TABLES: readonly PartitionedTable[] = PARTITIONED_TABLES;

/** Schema of the partitions. */
export const PARTITIONS = 'partitions';

const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;
/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS;
/** Number of weeks after the current week whose partitions exist. */
const WEEKS_AHEAD = 2;

/** Maximum wait for a lock. The wait is short, because other statements wait as long. */
export const LOCK_TIMEOUT_MS = 1_000;
/** Maximum wait for the lock of the default partition, while inserts wait. */
const READER_TIMEOUT_MS = 100;
/** Latest week of a partition. The names of partitions have four digits for the year. */
const MAX_TIME = Date.UTC(9_999, 0);

/** The Monday, 00:00 UTC, at or before a time. */
export const mondayOf = (time: Time): Time =>
  Math.floor((time - FIRST_MONDAY) / WEEK_MS) * WEEK_MS + FIRST_MONDAY;

/** Whether two IDs are of the same week, and therefore in the same partition. */
export const isSameWeek = (firstId: string, secondId: string): boolean =>
  mondayOf(timeOfId(firstId)) === mondayOf(timeOfId(secondId));

export interface Partition {
  table: PartitionedName;
  name: string;
  /** Bounds of the times of the rows: from `from` and before `until`. Null without a bound. */
  from: Time | null;
  until: Time | null;
  isDefault: boolean;
  /** Number of rows, as an estimate of the planner. */
  rows: number;
  bytes: number;
}

interface PartitionRow {
  table: PartitionedName;
  name: string;
  bound: string;
  rows: bigint;
  bytes: bigint;
}

/** A database or a connection, which runs a statement. */
export interface Queryable {
  query<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>;
}

/** A single connection, which transactions and locks need. */
export interface Connection extends Queryable {
  readonly isConnection: true;
}

export const onClient = (client: Pick<pg.Client, 'query'>): Connection => ({
  isConnection: true,
  query: async <R extends object>(text: string, values?: readonly unknown[]) =>
    (await client.query<R>(text, values && [...values])).rows,
});

const LIST = `select p.relname as table, c.relname as name,
    pg_get_expr(c.relpartbound, c.oid) as bound, greatest(c.reltuples, 0)::bigint as rows,
    pg_total_relation_size(c.oid) as bytes
  from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = i.inhrelid
  where p.relnamespace = current_schema()::text::regnamespace and p.relname = any($1::text[])
    and p.relkind = 'p'
  order by p.relname, c.relname`;

const BOUND = /^FOR VALUES FROM \((.+)\) TO \((.+)\)$/;

/** The time of a bound as PostgreSQL prints it, or null for any other text. */
function timeOfBound({ resource }: PartitionedTable, text: string): Time | null {
  const [, value] = /^'(.*)'$/.exec(text) ?? [];
  if (value === undefined) return null;
  if (resource === undefined) return parseTime(value);
  return value.startsWith(`${resource}:`) ? timeOfId(value) : null;
}

const tableOf = (name: string) => TABLES.find((each) => each.name === name) as PartitionedTable;

/** The partitions of all histories, in the order of their names. */
export async function listPartitions(db: Queryable): Promise<Partition[]> {
  const rows = await db.query<PartitionRow>(LIST, [TABLES.map(({ name }) => name)]);
  return rows.map(({ table, name, bound, rows: count, bytes }) => {
    const [, from = '', until = ''] = BOUND.exec(bound) ?? [];
    const partitionedTable = tableOf(table);
    return {
      ...{ table, name, isDefault: bound === 'DEFAULT' },
      from: timeOfBound(partitionedTable, from),
      until: timeOfBound(partitionedTable, until),
      ...{ rows: Number(count), bytes: Number(bytes) },
    };
  });
}

/** A bound of a partition as a value of its key. */
const keyAt = ({ resource }: PartitionedTable, time: Time): string =>
  resource === undefined ? new Date(time).toISOString() : idsFrom(resource, time);

const dayOf = (time: Time) => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const partitionName = (name: string) => `${PARTITIONS}.${name}`;

/** Whether a time is within the bounds of a partition. False for the default partition. */
const covers = (time: Time) => (each: Partition) =>
  !each.isDefault &&
  (each.from === null || each.from <= time) &&
  (each.until === null || time < each.until);

/** Creates the partition of a week and moves its rows from the default partition. */
async function createPartition(db: Connection, table: PartitionedTable, monday: Time) {
  const { name, key } = table;
  const [from, until] = [monday, monday + WEEK_MS].map((each) => quoteText(keyAt(table, each)));
  const newPartition = partitionName(`${name}_${dayOf(monday)}`);
  const defaultPartition = partitionName(`${name}_default`);
  const weekCondition = `${key} >= ${from} and ${key} < ${until}`;
  await db.query('begin');
  try {
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    // Concurrent inserts wait and then use the new partition. The complete table is locked, because an
    // insert that has already selected the default partition would fail when its bounds change.
    await db.query(`lock table only ${name} in share row exclusive mode`);
    // A long read of the default partition, such as a backup, must not delay the inserts.
    await db.query(`set local lock_timeout = ${READER_TIMEOUT_MS}`);
    await db.query(`lock table ${defaultPartition} in access exclusive mode`);
    await db.query(`create table ${newPartition}
      (like ${name} including defaults including constraints including storage)`);
    const earlyRowsSql = `select 1 as found from ${defaultPartition} where ${weekCondition} limit 1`;
    if ((await db.query(earlyRowsSql)).length > 0) {
      await db.query(`with moved as (delete from ${defaultPartition} where ${weekCondition} returning *)
        insert into ${newPartition} select * from moved`);
    }
    await db.query(`alter table ${name} attach partition ${newPartition}
      for values from (${from}) to (${until})`);
    await db.query('commit');
  } catch (error) {
    await db.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** The weeks with rows in the default partition of a table. */
async function weeksOfDefault(db: Queryable, { name, key, resource }: PartitionedTable) {
  const pattern = `^${resource}:[0-9a-f]{8}-[0-9a-f]{4}-`;
  const validKeyCondition = resource === undefined ? 'true' : `${key} ~ ${quoteText(pattern)}`;
  const weeks: Time[] = [];
  let lastKey = '';
  for (;;) {
    const lowerBound = lastKey === '' ? '' : `and ${key} >= ${quoteText(lastKey)}`;
    const rows = await db.query<{ first: string | null }>(`select min(${key})::text as first
      from ${partitionName(`${name}_default`)} where ${validKeyCondition} ${lowerBound}`);
    const firstKey = rows[0]?.first;
    if (!firstKey) return weeks;
    const monday = mondayOf(resource === undefined ? parseTime(firstKey) : timeOfId(firstKey));
    if (monday > MAX_TIME) return weeks;
    weeks.push(monday);
    lastKey = keyAt({ name, key, ...(resource ? { resource } : {}) }, monday + WEEK_MS);
  }
}

/** Codes if another process has created the partition or its table. */
const DUPLICATES = new Set(['42P07', '42P17', '42710', '23505']);
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Creates the missing partitions of this week, of the next weeks, and of rows in a default partition.
 * Returns their number. Several processes may create partitions concurrently.
 */
export async function createPartitions(db: Connection, now: Time): Promise<number> {
  const existingPartitions = await listPartitions(db);
  let count = 0;
  for (const table of TABLES) {
    const partitions = existingPartitions.filter((each) => each.table === table.name);
    if (partitions.length === 0) continue;
    const offsets = Array.from({ length: WEEKS_AHEAD + 1 }, (_, index) => index * WEEK_MS);
    const weeks = new Set([
      ...(await weeksOfDefault(db, table)),
      ...offsets.map((each) => mondayOf(now) + each),
    ]);
    for (const monday of weeks) {
      if (partitions.some(covers(monday))) continue;
      try {
        await createPartition(db, table, monday);
        count += 1;
      } catch (error) {
        if (!DUPLICATES.has((error as { code?: string }).code ?? '')) throw error;
      }
    }
  }
  return count;
}

/**
 * Whether the partition of this week or of the last week ahead (`WEEKS_AHEAD`) is missing, or a
 * default partition has rows.
 */
export async function needsPartitions(db: Queryable, now: Time): Promise<boolean> {
  const existingPartitions = await listPartitions(db);
  const tables = TABLES.filter(({ name }) =>
    existingPartitions.some((each) => each.table === name),
  );
  const weeks = [mondayOf(now), mondayOf(now) + WEEKS_AHEAD * WEEK_MS];
  const isMissing = tables.some(({ name }) => {
    const partitions = existingPartitions.filter((each) => each.table === name);
    return weeks.some((each) => !partitions.some(covers(each)));
  });
  if (isMissing || tables.length === 0) return isMissing;
  const conditions = tables.map(
    ({ name }) => `exists (select from ${partitionName(`${name}_default`)})`,
  );
  const [row] = await db.query<{ found: boolean }>(`select ${conditions.join(' or ')} as found`);
  return row?.found === true;
}

/**
 * Creates missing partitions at the start of a process. If other statements hold their locks for long, the
 * partitions are created later, and rows are stored in the default partition.
 */
export async function preparePartitions(db: Connection, now: Time): Promise<void> {
  try {
    if (await needsPartitions(db, now)) await createPartitions(db, now);
  } catch (error) {
    if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
  }
}
