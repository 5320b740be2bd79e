// SQL of archives, and of the removal of a partition from its table.
import { iso, type Time } from '../../kernel/effects.ts';
import { idsFrom } from '../../kernel/id.ts';
import {
  type Connection,
  LOCK_TIMEOUT_MS,
  PARTITIONED_TABLES,
  PARTITIONS,
  type PartitionedName,
  type Queryable,
} from '../../runtime/db/partitions/partitions.ts';
import type { ExpiredPartition } from './histories.ts';

type ArchiveState = 'DETACHED' | 'STORED' | 'REMOVED';

export interface ArchiveRow {
  id: string;
  history: PartitionedName;
  partition: string;
  from_time: Time | null;
  until_time: Time;
  state: ArchiveState;
  object: string | null;
  file_key: string | null;
  rows: bigint | null;
  bytes: bigint | null;
  sha256: string | null;
  created_at: Time;
  stored_at: Time | null;
  removed_at: Time | null;
}

export const presentArchive = (row: ArchiveRow) => ({
  id: row.id,
  history: row.history,
  partition: row.partition,
  from: row.from_time === null ? null : iso(row.from_time),
  until: iso(row.until_time),
  state: row.state,
  rows: row.rows === null ? null : Number(row.rows),
  bytes: row.bytes === null ? null : Number(row.bytes),
  sha256: row.sha256,
  createdAt: iso(row.created_at),
  storedAt: row.stored_at === null ? null : iso(row.stored_at),
  removedAt: row.removed_at === null ? null : iso(row.removed_at),
});

const LATEST_ARCHIVES_SQL =
  'select * from archives order by until_time desc, id desc limit $1::int';
const BY_ID_SQL = 'select * from archives where id = $1';
const DETACHED_ARCHIVES_SQL = `select * from archives where state = 'DETACHED'
  order by history desc, until_time`;
const EXPIRED_ARCHIVES_SQL = `select * from archives where state = 'STORED' and until_time < $1
  order by until_time limit 1000`;

export const latestArchives = (db: Queryable, limit: number) =>
  db.query<ArchiveRow>(LATEST_ARCHIVES_SQL, [limit]);
export const findArchive = async (db: Queryable, id: string) =>
  (await db.query<ArchiveRow>(BY_ID_SQL, [id]))[0];
/** Detached archives, attempts before events. */
export const detachedArchives = (db: Queryable) => db.query<ArchiveRow>(DETACHED_ARCHIVES_SQL, []);
export const archivesBefore = (db: Queryable, time: Time) =>
  db.query<ArchiveRow>(EXPIRED_ARCHIVES_SQL, [new Date(time)]);

const hasWebhooks = (table: PartitionedName) =>
  PARTITIONED_TABLES.some((each) => each.name === table && 'resource' in each);

const QUEUED_DELIVERIES_SQL = `select from webhook_queue
  where event_id < $2 and ($1::text is null or event_id >= $1) limit 1`;

/** Whether events of a partition have pending deliveries. */
export async function hasDeliveries(db: Queryable, partition: ExpiredPartition) {
  if (!hasWebhooks(partition.table)) return false;
  const from = partition.from === null ? null : idsFrom('Webhook', partition.from);
  const values = [from, idsFrom('Webhook', partition.until)];
  return (await db.query<{ count: number }>(QUEUED_DELIVERIES_SQL, values)).length > 0;
}

const INSERT_SQL = `insert into archives
    (id, history, partition, from_time, until_time, state, created_at)
  values ($1, $2, $3, $4, $5, 'DETACHED', $6)`;

type Detachment = 'WAITING' | 'DROPPED' | 'DETACHED';

const REPETITIONS_SQL = `select count(*)::int4 as count from archives
  where partition = $1 or partition like $1 || '\\_repeated\\_%'`;

/**
 * Renames a detached partition if a partition of the same name was archived before. Rows that are written
 * after the removal of their week are in such a partition. Returns the current name.
 */
async function renameRepeated(db: Connection, name: string): Promise<string> {
  const [row] = await db.query<{ count: number }>(REPETITIONS_SQL, [name]);
  if (!row?.count) return name;
  const newName = `${name}_repeated_${row.count}`;
  await db.query(`alter table ${PARTITIONS}.${name} rename to ${newName}`);
  return newName;
}

/**
 * Runs `work` in a transaction with a lock timeout, so that other statements do not wait for long.
 */
async function inTransaction<T>(db: Connection, work: () => Promise<T>): Promise<T> {
  await db.query('begin');
  try {
    await db.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    const result = await work();
    await db.query('commit');
    return result;
  } catch (error) {
    await db.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Error codes: the partition has pending deliveries, or other statements hold locks on it. */
const WAITING_CODES = new Set(['DELIVERIES_PENDING', '55P03', '40P01']);

const pendingError = () =>
  Object.assign(new Error('deliveries of the partition are pending'), {
    code: 'DELIVERIES_PENDING',
  });

/**
 * Detaches a partition from its table, so that its rows no longer change. Drops it if it is empty
 * or if `archive` is undefined.
 */
export async function detach(
  db: Connection,
  partition: ExpiredPartition,
  archive: { id: string; now: Time } | undefined,
): Promise<Detachment> {
  const { table, name, from, until } = partition;
  const qualifiedName = `${PARTITIONS}.${name}`;
  try {
    return await inTransaction(db, async () => {
      await db.query(`alter table ${table} detach partition ${qualifiedName}`);
      if (await hasDeliveries(db, partition)) throw pendingError();
      const firstRows = await db.query(`select 1 as found from ${qualifiedName} limit 1`);
      if (firstRows.length === 0 || !archive) {
        await db.query(`drop table ${qualifiedName}`);
        return 'DROPPED' as const;
      }
      const times = [from === null ? null : new Date(from), new Date(until), new Date(archive.now)];
      const archivedName = await renameRepeated(db, name);
      await db.query(INSERT_SQL, [archive.id, table, archivedName, ...times]);
      return 'DETACHED' as const;
    });
  } catch (error) {
    if (WAITING_CODES.has((error as { code?: string }).code ?? '')) return 'WAITING';
    throw error;
  }
}

const BEGIN_STORING_SQL = 'update archives set object = $2, file_key = $3 where id = $1';

/** Records the object name and the sealed key of a file before its upload starts. */
export const beginStoring = (db: Queryable, id: string, object: string, fileKey: string) =>
  db.query(BEGIN_STORING_SQL, [id, object, fileKey]);

const FINISH_STORING_SQL = `update archives
  set state = 'STORED', rows = $2, bytes = $3, sha256 = $4, stored_at = $5
  where id = $1 and state = 'DETACHED'`;

/** Size and checksum of an archive file. */
export interface Content {
  rows: number;
  bytes: number;
  sha256: string;
}

/** Records the file and drops the partition whose rows it contains, in one transaction. */
export const finishStoring = (
  db: Connection,
  { id, partition }: ArchiveRow,
  { rows, bytes, sha256 }: Content,
  now: Time,
): Promise<void> =>
  inTransaction(db, async () => {
    await db.query(`drop table ${PARTITIONS}.${partition}`);
    await db.query(FINISH_STORING_SQL, [id, rows, bytes, sha256, new Date(now)]);
  });

const REMOVE_KEY_SQL = `update archives
  set state = 'REMOVED', file_key = null, removed_at = $2 where id = $1`;

/** Deletes the key of a file, which makes all copies of it unreadable. */
export const removeKey = (db: Queryable, id: string, now: Time) =>
  db.query(REMOVE_KEY_SQL, [id, new Date(now)]);

/** Advisory lock number, which no other program uses in the same database. */
export const RETENTION_LOCK = 7_245_184_347;

/**
 * Acquires the lock for changes of partitions until the connection closes. Returns false if another
 * connection holds it.
 */
export async function acquireLock(db: Connection): Promise<boolean> {
  const [row] = await db.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    RETENTION_LOCK,
  ]);
  return row?.locked === true;
}
