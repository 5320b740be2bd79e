// The embedded PostgreSQL of a run, with `fsync` on. All rows except the start share this
// PostgreSQL, and its folder is removed at the end. Each side has its own database with the same
// migrations, so that the rows of one side do not slow down the other.
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { migrate } from '../../../server/src/runtime/db/migrate.ts';
import { type Embedded, startEmbedded } from '../../../server/src/runtime/postgres/embedded.ts';

export interface Cluster {
  /** A connection string for one of the databases. */
  readonly url: string;
  /** Process ID of PostgreSQL. */
  readonly pid: number;
  /** Folder of its unix socket. */
  readonly socket: string;
  /** Creates and migrates a database. Returns its connection string. */
  create(name: string): Promise<string>;
  /** Copies a database that has no connections. Returns the connection string of the copy. */
  copy(from: string, name: string): Promise<string>;
  /** Runs one statement in a database. Returns its rows. */
  rows<R extends object>(name: string, text: string, values?: readonly unknown[]): Promise<R[]>;
  /** Flushes earlier work, so that every run starts from the same state. */
  checkpoint(): Promise<void>;
  /** Version and settings of PostgreSQL, for the header of the run. */
  describe(): Promise<string>;
  stop(): Promise<void>;
}

/** The URL of another database on the same server. */
export const databaseUrl = (url: string, name: string): string => {
  const databaseAddress = new URL(url);
  databaseAddress.pathname = `/${name}`;
  return databaseAddress.href;
};

async function query<R extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<R>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Configures PostgreSQL to load a library at its next start. */
function preload(dir: string, library: string): void {
  const file = path.join(dir, 'postgres', 'postgresql.auto.conf');
  fs.appendFileSync(file, `shared_preload_libraries = '${library}'\n`);
}

async function start(dir: string, isProfiled: boolean): Promise<Embedded> {
  const firstDatabase = await startEmbedded({ dir });
  if (!isProfiled) return firstDatabase;
  await firstDatabase.stop();
  preload(dir, 'pg_stat_statements');
  return startEmbedded({ dir });
}

/** Starts PostgreSQL on an empty folder. If `isProfiled`, statements are counted and timed. */
export async function startCluster(dir: string, isProfiled = false): Promise<Cluster> {
  const embeddedPostgres = await start(dir, isProfiled);
  const { url } = embeddedPostgres;
  const urlOf = (name: string) => databaseUrl(url, name);
  if (isProfiled) await query(url, 'create extension pg_stat_statements');
  return {
    url,
    pid: embeddedPostgres.pid,
    socket: new URL(url).searchParams.get('host') ?? '',
    async create(name) {
      await query(url, `create database ${name}`);
      await migrate(urlOf(name), () => Date.now());
      return urlOf(name);
    },
    async copy(from, name) {
      await query(url, `create database ${name} template ${from}`);
      return urlOf(name);
    },
    rows: (name, text, values) => query(urlOf(name), text, values),
    checkpoint: async () => void (await query(url, 'checkpoint')),
    async describe() {
      const [version] = await query<{ server_version: string }>(url, 'show server_version');
      const settings: string[] = [];
      for (const name of ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']) {
        const [row] = await query<Record<string, string>>(url, `show ${name}`);
        settings.push(`${name}=${row?.[name]}`);
      }
      return `PostgreSQL ${version?.server_version} (embedded), ${settings.join(' ')}`;
    },
    async stop() {
      await embeddedPostgres.stop();
    },
  };
}
