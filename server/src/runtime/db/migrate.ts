// Migrates a database to this version's schema: the plain SQL files of `server/migrations`, in
// order, each in its own transaction, forward only. Applied files are recorded with a checksum,
// because a later change of a file would give two databases with the same version different
// schemas.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import type { Time } from '../../kernel/effects.ts';
import { projectRoot } from '../config/root.ts';
import { connectDatabase } from './connections/connect.ts';
import { hasCanceledWait } from './connections/replication.ts';

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface Applied {
  name: string;
  checksum: string;
}

/** Any number that no other program locks in the same database. */
const LOCK = 7_245_184_346;
const MIN_SERVER_VERSION = 150_000;
/** A migration may take long, also on a database or with a user that has timeouts. */
const NO_TIMEOUTS = ['statement_timeout = 0', 'lock_timeout = 0'];
const NAME = /^\d{4}_[a-z0-9_]+\.sql$/;

const migrationError = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name: 'MigrationError' });

/** The migrations of a folder in the order of their names; none if the folder is missing. */
function readMigrations(folder: string): Migration[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const misnamed = names.find((name) => !NAME.test(name));
  if (misnamed)
    throw migrationError(`Migration ${misnamed} is not named like 0001_some_words.sql.`);
  return names.sort().map((name) => {
    // A checkout on Windows may have other line ends; these are ignored.
    const sql = fs.readFileSync(path.join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  const table = await client.query<{ found: boolean }>(
    `select to_regclass('schema_migrations') is not null as found`,
  );
  if (!table.rows[0]?.found) return [];
  const { rows } = await client.query<Applied>(
    'select name, checksum from schema_migrations order by name',
  );
  return rows;
}

/** The files still to apply. Throws if the history of the database differs from the files. */
function pendingMigrations(files: Migration[], applied: Applied[]): Migration[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const { name, checksum } of applied) {
    const file = byName.get(name);
    if (!file) {
      throw migrationError(
        `The database has migration ${name}, which this version lacks. Use a newer Railhead.`,
      );
    }
    if (file.checksum !== checksum) {
      throw migrationError(
        `Migration ${name} was changed after it was applied. Restore it and add a new ` +
          'migration.',
      );
    }
  }
  const done = new Set(applied.map(({ name }) => name));
  const last = applied.at(-1)?.name ?? '';
  const pendingFiles = files.filter(({ name }) => !done.has(name));
  const outOfOrder = pendingFiles.find(({ name }) => name < last);
  if (outOfOrder)
    throw migrationError(
      `Migration ${outOfOrder.name} sorts before ${last}, which is already applied.`,
    );
  return pendingFiles;
}

const lineOf = (sql: string, position: string | undefined) =>
  position === undefined ? '' : ` line ${sql.slice(0, Number(position)).split('\n').length}`;

async function apply(client: pg.Client, { name, sql, checksum }: Migration, appliedAt: Time) {
  try {
    await client.query('begin');
    await client.query(sql);
    await client.query(
      'insert into schema_migrations (name, applied_at, checksum) values ($1, $2, $3)',
      [name, new Date(appliedAt), checksum],
    );
    await client.query('commit');
    if (hasCanceledWait(client)) throw new Error('no replica has confirmed it');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    const { message, position } = error as { message: string; position?: string };
    throw migrationError(`Migration ${name}${lineOf(sql, position)}: ${message}`, error);
  }
}

async function applyPending(client: pg.Client, files: Migration[], now: () => Time) {
  // Two processes may start at once; the second then has no pending migrations.
  await client.query('select pg_advisory_lock($1)', [LOCK]);
  await client.query(
    `create table if not exists schema_migrations (
      name text collate "C" primary key, applied_at timestamptz not null, checksum text not null)`,
  );
  const pendingFiles = pendingMigrations(files, await readApplied(client));
  for (const file of pendingFiles) await apply(client, file, now());
  return pendingFiles.map(({ name }) => name);
}

/**
 * Applies missing migrations and returns their names (usually none: one connection and three small
 * queries). Throws an error named MigrationError with one plain line; files before the misnamed one
 * remain applied.
 */
export async function migrate(
  url: string,
  now: () => Time,
  folder = path.join(projectRoot(), 'server', 'migrations'),
): Promise<string[]> {
  const files = readMigrations(folder);
  const client = await connectDatabase(url, { name: 'railhead migrate', settings: NO_TIMEOUTS });
  try {
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    if (Number(rows[0]?.server_version_num) < MIN_SERVER_VERSION) {
      throw migrationError('PostgreSQL 15 or newer is required; the database is older.');
    }
    // Checked without the lock first: most starts find everything applied.
    if (pendingMigrations(files, await readApplied(client)).length === 0) return [];
    return await applyPending(client, files, now);
  } finally {
    await client.end();
  }
}
