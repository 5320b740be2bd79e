// Migrates a database to the schema of this version with the SQL files of `server/migrations`, in order and
// forward only. Applied files are recorded with a checksum, because a later change of a file would produce
// two schemas of one version.
//
// Two versions can serve concurrently, because a start applies only expansions, which the previous version
// supports. A contraction, with the line `-- contract after 0093` in its file, is applied by
// `railhead-server migrate --contract` when every running server includes that migration.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Time } from '../../kernel/effects.ts';
import { projectRoot } from '../config/root.ts';
import { connectDatabase } from './connections/connect.ts';
import { hasCanceledWait } from './connections/replication.ts';
import { onClient, preparePartitions } from './partitions/partitions.ts';

interface Migration {
  name: string;
  sql: string;
  checksum: string;
  /** For a contraction, the number of the migration that every running server must include. */
  contractsAfter: number | undefined;
  /** Set for a migration that blocks a table for long. */
  offline: { table: string; secondsPerMillion: number } | undefined;
}

interface AppliedMigration {
  name: string;
  checksum: string;
  /** Null if it was applied by a version without contractions. */
  phase: 'expand' | 'contract' | null;
}

/** Names of migrations. */
export interface PendingMigrations {
  expansions: string[];
  contractions: string[];
}

/** A number that no other program locks in the same database. */
const LOCK = 7_245_184_346;
/** Class of the locks of running servers. The object is the number of the newest migration. */
const SERVERS = 724_518;
/** Lock that a contraction holds exclusively, so that no server announces its migrations. */
const CONTRACTION = `${SERVERS}, 0`;
const MIN_SERVER_VERSION = 150_000;
/** Settings that permit long migrations on a database or with a user that has timeouts. */
const SETTINGS = [
  'statement_timeout = 0',
  'lock_timeout = 0',
  "timezone = 'UTC'",
  "datestyle = 'ISO'",
];
/**
 * Maximum wait of a migration for a lock, before it tries again. Statements of running servers wait during
 * this time. The wait is shorter than their lock timeout (3 s). It is also shorter than the time after
 * which PostgreSQL detects a deadlock (1 s) and may cancel a payment.
 */
const LOCK_WAIT_MS = 800;
const RETRY_MS = 500;
const MAX_ATTEMPTS = 60;
/** Lock not available, deadlock detected. */
const BUSY_CODES = ['55P03', '40P01'];
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
const CONTRACT = /^-- contract after (\d{4})$/m;
const OFFLINE = /^-- offline (\w+), (\d+) s per million rows$/m;
const FOLDER = path.join(projectRoot(), 'server', 'migrations');

const migrationError = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name: 'MigrationError' });

/** The migrations of a folder in the order of their names. Empty if the folder is missing. */
function readMigrations(folder: string): Migration[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const invalidName = names.find((name) => !NAME.test(name));
  if (invalidName)
    throw migrationError(
      `Migration ${invalidName} is not named like 0001_some_words.sql. Rename the file.`,
    );
  return names.sort().map((name) => {
    // Line ends are normalized, because a checkout on Windows may have other line ends.
    const sql = fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    const [, minNumber] = CONTRACT.exec(sql) ?? [];
    const [, table, seconds] = OFFLINE.exec(sql) ?? [];
    return {
      ...{ name, sql, checksum: createHash('sha256').update(sql).digest('hex') },
      contractsAfter: minNumber === undefined ? undefined : Number(minNumber),
      offline: table ? { table, secondsPerMillion: Number(seconds) } : undefined,
    };
  });
}

async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  const tableResult = await client.query<{ found: boolean }>(
    `select to_regclass('schema_migrations') is not null as found`,
  );
  if (!tableResult.rows[0]?.found) return [];
  // Earlier versions created the table without the phase.
  const { rows } = await client.query<AppliedMigration>(
    `select name, checksum, to_jsonb(m) ->> 'phase' as phase from schema_migrations m order by name`,
  );
  return rows;
}

const missingMigrationError = (name: string) =>
  migrationError(
    `The database has migration ${name}, which this version lacks. Use a newer version.`,
  );

/** The files that are not applied yet. Throws if the history of the database differs from the files. */
function findPendingMigrations(
  files: Migration[],
  appliedMigrations: AppliedMigration[],
): Migration[] {
  const filesByName = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum, phase } of appliedMigrations) {
    const file = filesByName.get(name);
    // Expansions of later versions are accepted, because this version works with them.
    if (!file && phase === 'expand') continue;
    if (!file) throw missingMigrationError(name);
    if (file.checksum !== checksum) {
      throw migrationError(
        `Migration ${name} was changed after it was applied. Restore it and add a new ` +
          'migration.',
      );
    }
  }
  const appliedNames = new Set(appliedMigrations.map(({ name }) => name));
  const lastName = appliedMigrations.findLast(({ name }) => filesByName.has(name))?.name ?? '';
  const pendingFiles = files.filter(({ name }) => !appliedNames.has(name));
  const outOfOrderFile = pendingFiles.find(
    ({ name, contractsAfter }) => contractsAfter === undefined && name < lastName,
  );
  if (outOfOrderFile)
    throw migrationError(
      `Migration ${outOfOrderFile.name} sorts before ${lastName}, which is already applied. ` +
        'Rename it to a later number.',
    );
  return pendingFiles;
}

const lineOf = (sql: string, position: string | undefined) =>
  position === undefined ? '' : ` line ${sql.slice(0, Number(position)).split('\n').length}`;

async function applyOnce(client: pg.Client, migration: Migration, appliedAt: Time) {
  const { name, sql, checksum, contractsAfter } = migration;
  const phase = contractsAfter === undefined ? 'expand' : 'contract';
  await client.query('begin');
  await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
  await client.query(sql);
  await client.query(
    'insert into schema_migrations (name, applied_at, checksum, phase) values ($1, $2, $3, $4)',
    [name, new Date(appliedAt), checksum, phase],
  );
  await client.query('commit');
  if (hasCanceledWait(client)) throw new Error('no replica has confirmed the commit');
}

async function apply(client: pg.Client, migration: Migration, now: () => Time) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyOnce(client, migration, now());
    } catch (error) {
      await client.query('rollback').catch(() => undefined);
      const { message, position, code } = error as pg.DatabaseError;
      const isBusy = BUSY_CODES.includes(code ?? '');
      if (isBusy && attempt < MAX_ATTEMPTS) {
        await sleep(RETRY_MS);
        continue;
      }
      const { name, sql } = migration;
      const hint = isBusy
        ? '. Another transaction uses a table of this migration. End that transaction, or try again later.'
        : '';
      const reason = `${message}${hint}`;
      throw migrationError(`Migration ${name}${lineOf(sql, position)}: ${reason}`, error);
    }
  }
}

/** The newest migration of each connection of a running server. */
async function readAnnouncedNumbers(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ number: number }>(
    `select objid::int as number from pg_locks
      where locktype = 'advisory' and classid = $1 and objid > 0 and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`,
    [SERVERS],
  );
  return rows.map(({ number }) => number);
}

/** Throws if a migration would block a table for more than about a second while servers run. */
async function assertOnline(client: pg.Client, files: readonly Migration[]): Promise<void> {
  const blockingFiles = files.filter(({ offline }) => offline !== undefined);
  if (blockingFiles.length === 0 || (await readAnnouncedNumbers(client)).length === 0) return;
  for (const { name, offline } of blockingFiles) {
    const { table, secondsPerMillion } = offline as NonNullable<Migration['offline']>;
    const text =
      'select greatest(reltuples, 0)::float8 as count from pg_class where oid = to_regclass($1)';
    const { rows } = await client.query<{ count: number }>(text, [table]);
    const count = rows[0]?.count ?? 0;
    const seconds = Math.ceil((count / 1_000_000) * secondsPerMillion);
    if (seconds <= 1) continue;
    throw migrationError(
      `Migration ${name} blocks the table ${table} for about ${seconds} s (${count} rows). ` +
        'Stop all other servers first.',
    );
  }
}

async function applyPending(client: pg.Client, files: Migration[], now: () => Time) {
  // If two processes start concurrently, the second process has no pending migrations after the lock.
  await client.query('select pg_advisory_lock($1)', [LOCK]);
  await client.query(
    `create table if not exists schema_migrations (
      name text collate "C" primary key, applied_at timestamptz not null, checksum text not null)`,
  );
  await client.query('alter table schema_migrations add column if not exists phase text');
  const appliedMigrations = await readApplied(client);
  // An empty database has no earlier version.
  const isNew = appliedMigrations.length === 0;
  const pendingFiles = findPendingMigrations(files, appliedMigrations).filter(
    ({ contractsAfter }) => isNew || contractsAfter === undefined,
  );
  await assertOnline(client, pendingFiles);
  // In a new database only the last commit is flushed, together with all commits before it. After a
  // crash the next start continues from the last migration that was flushed.
  if (isNew) await client.query('set synchronous_commit = off');
  for (const file of pendingFiles) {
    if (file === pendingFiles.at(-1)) await client.query('reset synchronous_commit');
    await apply(client, file, now);
  }
  return pendingFiles.map(({ name }) => name);
}

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectDatabase(url, { name: 'railhead migrate', settings: SETTINGS });
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    if (Number(rows[0]?.server_version_num) < MIN_SERVER_VERSION) {
      throw migrationError('PostgreSQL 15 or newer is required. The database is older.');
    }
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Applies missing expansions, or all migrations to an empty database, and creates the next
 * partitions. Returns the names of the applied migrations. The error of a migration is named
 * MigrationError. Migrations before a failed migration remain applied.
 */
export async function migrate(url: string, now: () => Time, folder = FOLDER): Promise<string[]> {
  const files = readMigrations(folder);
  return onDatabase(url, async (client) => {
    const appliedMigrations = await readApplied(client);
    const pendingFiles = findPendingMigrations(files, appliedMigrations);
    const isNew = appliedMigrations.length === 0;
    // Most starts have no pending file and need no lock.
    const isCurrent = !pendingFiles.some(
      ({ contractsAfter }) => isNew || contractsAfter === undefined,
    );
    const names = isCurrent ? [] : await applyPending(client, files, now);
    await preparePartitions(onClient(client), now());
    return names;
  });
}

/** The migrations that this version has and the database lacks. */
export async function readPendingMigrations(
  url: string,
  folder = FOLDER,
): Promise<PendingMigrations> {
  const files = readMigrations(folder);
  return onDatabase(url, async (client) => {
    const pendingFiles = findPendingMigrations(files, await readApplied(client));
    const namesOf = (isContraction: boolean) =>
      pendingFiles
        .filter(({ contractsAfter }) => (contractsAfter !== undefined) === isContraction)
        .map(({ name }) => name);
    return { expansions: namesOf(false), contractions: namesOf(true) };
  });
}

/**
 * Applies the missing contractions after the expansions, and returns their names. Throws a MigrationError
 * if a running server is too old for a contraction.
 */
export async function contract(url: string, now: () => Time, folder = FOLDER): Promise<string[]> {
  await migrate(url, now, folder);
  const files = readMigrations(folder);
  return onDatabase(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(`select pg_advisory_lock(${CONTRACTION})`);
    const contractions = findPendingMigrations(files, await readApplied(client));
    const numbers = await readAnnouncedNumbers(client);
    for (const { name, contractsAfter = 0 } of contractions) {
      const oldestNumber = Math.min(...numbers);
      if (oldestNumber >= contractsAfter) continue;
      throw migrationError(
        `Migration ${name} needs servers with migration ${String(contractsAfter).padStart(4, '0')}. ` +
          `A running server has migrations up to ${String(oldestNumber).padStart(4, '0')}. Update it first.`,
      );
    }
    await assertOnline(client, contractions);
    for (const file of contractions) await apply(client, file, now);
    return contractions.map(({ name }) => name);
  });
}

/**
 * Announces the newest migration of a running server, until its connection ends. Throws a MigrationError if
 * the database was contracted for a later version.
 */
export async function announceMigrations(client: pg.Client, folder = FOLDER): Promise<void> {
  const names = fs.readdirSync(folder).filter((name) => NAME.test(name));
  const newestNumber = Number(names.sort().at(-1)?.slice(0, 4) ?? 0);
  const lockFunction = 'pg_advisory_lock_shared';
  await client.query(
    `select ${lockFunction}(${CONTRACTION}), ${lockFunction}(${SERVERS}, ${newestNumber})`,
  );
  const appliedMigrations = await readApplied(client);
  await client.query(`select pg_advisory_unlock_shared(${CONTRACTION})`);
  const laterContraction = appliedMigrations.find(
    ({ name, phase }) => phase === 'contract' && !names.includes(name),
  );
  if (laterContraction) throw missingMigrationError(laterContraction.name);
}
