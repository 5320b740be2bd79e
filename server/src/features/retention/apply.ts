// Applies the retention in one process at a time: creates the next partitions, and removes those
// whose rows are all older than the retention period. With archives, a partition is first detached
// atomically. After its rows are stored in a file, it is dropped with the commit that records the
// file. After a crash before this commit the detached table still exists, so the file is written
// again under another key.
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { newId } from '../../kernel/id.ts';
import { connectDatabase } from '../../runtime/db/connections/connect.ts';
import {
  type Connection,
  createPartitions,
  listPartitions,
  needsPartitions,
  onClient,
  type Queryable,
} from '../../runtime/db/partitions/partitions.ts';
import { isolatedTypes } from '../../runtime/db/pool.ts';
import { storeArchive } from './archive.ts';
import type { RetentionDeps } from './deps.ts';
import { type ExpiredPartition, expiredPartitions, type RetentionSettings } from './histories.ts';
import {
  acquireLock,
  archivesBefore,
  detach,
  detachedArchives,
  finishStoring,
  hasDeliveries,
  removeKey,
} from './store.ts';

interface RemovedPartition {
  history: string;
  partition: string;
  /** WAITING: deliveries of its events are pending, or other statements use the partition. */
  result: 'ARCHIVED' | 'DROPPED' | 'WAITING';
  /**
   * Number of archived rows. The estimate of the planner in a dry run and without an archive. 0 for
   * a detached partition in a dry run.
   */
  rows: number;
}

export interface RetentionResult {
  dryRun: boolean;
  partitionsCreated: number;
  partitions: RemovedPartition[];
  archivesRemoved: number;
}

const STATEMENT_TIMEOUT_MS = 600_000;

const concurrentRunFault = () =>
  new Fault('CONFLICT', 'Another process is applying the retention. Try again later.');

const entryOf = ({ table, name, rows }: ExpiredPartition, result: RemovedPartition['result']) => ({
  ...{ history: table, partition: name, result, rows },
});

/** The removals that `applyRetention` would make. `partitionsCreated` is 0. */
async function preview({ runtime, settings }: RetentionDeps): Promise<RetentionResult> {
  const { db, effects } = runtime;
  const now = effects.now();
  const partitions: RemovedPartition[] = [];
  for (const each of expiredPartitions(await listPartitions(db), settings, now)) {
    const result = settings.archiveRetentionMs > 0 ? 'ARCHIVED' : 'DROPPED';
    partitions.push(entryOf(each, (await hasDeliveries(db, each)) ? 'WAITING' : result));
  }
  for (const { history, partition } of await detachedArchives(db)) {
    partitions.push({ history, partition, result: 'ARCHIVED', rows: 0 });
  }
  const archivesRemoved = (await expiredArchives(db, settings, now)).length;
  return { dryRun: true, partitionsCreated: 0, partitions, archivesRemoved };
}

const expiredArchives = async (db: Queryable, settings: RetentionSettings, now: Time) =>
  settings.archiveRetentionMs > 0 ? archivesBefore(db, now - settings.archiveRetentionMs) : [];

/** Stores the rows of all detached partitions, including those of an interrupted run. */
async function storeDetached(deps: RetentionDeps, db: Connection): Promise<RemovedPartition[]> {
  const archivedPartitions: RemovedPartition[] = [];
  for (const archive of await detachedArchives(db)) {
    const content = await storeArchive(deps, db, archive);
    await finishStoring(db, archive, content, deps.runtime.effects.now());
    const { history, partition } = archive;
    archivedPartitions.push({ history, partition, result: 'ARCHIVED', rows: content.rows });
  }
  return archivedPartitions;
}

async function removePartitions(deps: RetentionDeps, db: Connection): Promise<RemovedPartition[]> {
  const { runtime, settings } = deps;
  const { effects } = runtime;
  const removedPartitions = await storeDetached(deps, db);
  const hasArchives = settings.archiveRetentionMs > 0;
  for (const each of expiredPartitions(await listPartitions(db), settings, effects.now())) {
    // This check has no lock, because the detachment repeats it under a lock.
    const isNeeded = await hasDeliveries(db, each);
    const archive = hasArchives ? { id: newId(effects, 'Archive'), now: effects.now() } : undefined;
    const result = isNeeded ? 'WAITING' : await detach(db, each, archive);
    if (result === 'DETACHED') removedPartitions.push(...(await storeDetached(deps, db)));
    else removedPartitions.push(entryOf(each, result));
  }
  return removedPartitions;
}

async function removeArchives(deps: RetentionDeps, db: Queryable): Promise<number> {
  const { runtime, storage, settings } = deps;
  const now = runtime.effects.now();
  const archives = await expiredArchives(db, settings, now);
  for (const { id, object } of archives) {
    if (object !== null) await storage.remove(object);
    await removeKey(db, id, now);
  }
  return archives.length;
}

/**
 * Applies the retention. A dry run returns the removals that the retention would make. Throws
 * CONFLICT while another process applies the retention, except for a dry run.
 */
export async function applyRetention(
  deps: RetentionDeps,
  isDryRun = false,
): Promise<RetentionResult> {
  if (isDryRun) return preview(deps);
  const client = await connectDatabase(deps.databaseUrl, {
    name: 'railhead retention',
    settings: [
      "timezone = 'UTC'",
      "datestyle = 'ISO'",
      `statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
    ],
    types: isolatedTypes,
  });
  try {
    const db = onClient(client);
    if (!(await acquireLock(db))) throw concurrentRunFault();
    const partitionsCreated = await createPartitions(db, deps.runtime.effects.now());
    const partitions = await removePartitions(deps, db);
    const archivesRemoved = await removeArchives(deps, db);
    return { dryRun: false, partitionsCreated, partitions, archivesRemoved };
  } finally {
    await client.end();
  }
}

/**
 * Whether `applyRetention` has work, including partitions that wait. Uses the connection pool, so
 * that an idle check opens no connection.
 */
export async function isRetentionDue({ runtime, settings }: RetentionDeps): Promise<boolean> {
  const { db, effects } = runtime;
  const now = effects.now();
  if (await needsPartitions(db, now)) return true;
  if (expiredPartitions(await listPartitions(db), settings, now).length > 0) return true;
  if ((await detachedArchives(db)).length > 0) return true;
  return (await expiredArchives(db, settings, now)).length > 0;
}
