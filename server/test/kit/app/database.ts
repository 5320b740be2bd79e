// A database of one's own for a test file, in 15 ms: the run's migrated template, copied.
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  url: string;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
}

/** What global-setup.ts hands to the tests. */
export interface TestServer {
  /** A database on the server that nobody uses, to give orders from. */
  url: string;
  template: string;
  /** How to copy: files where nothing is flushed (15 ms against 30), the log elsewhere. */
  strategy: 'file_copy' | 'wal_log';
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

let made = 0;

/** Runs one statement on a connection of its own. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The same server's other database. */
export function databaseUrl(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** A fresh database with all migrations applied. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('testServer') as TestServer | undefined;
  if (!server) {
    throw new Error(
      'No test database: run `npm test -- FILE` or vitest with server/vitest.config.ts.',
    );
  }
  const { url, template, strategy } = server;
  made += 1;
  const name = `${template}_${process.pid}_${made}`;
  await execute(url, `create database ${name} template ${template} strategy ${strategy}`);
  return {
    url: databaseUrl(url, name),
    drop: () => execute(url, `drop database if exists ${name} with (force)`),
  };
}
