// A database for a test file, copied from the run's migrated template in about 0.1 s.
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  url: string;
  /** Drops the database, including open connections. */
  drop(): Promise<void>;
}

/** Provided by global-setup.ts to the tests. */
export interface TestServer {
  /** An unused database on the server, for administrative statements. */
  url: string;
  template: string;
  /**
   * Copy strategy. `file_copy` is faster and requires a server with `fsync` off. On other servers,
   * the copy is written to the write-ahead log.
   */
  strategy: 'file_copy' | 'wal_log';
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

/** Start time of the clocks of test servers, a Monday. The template has the partitions for it. */
export const TEST_START = Date.UTC(2026, 0, 5, 9, 0, 0);

let databaseCount = 0;

/** Runs one statement on a separate connection. */
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

/** The URL of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const otherUrl = new URL(url);
  otherUrl.pathname = `/${name}`;
  return otherUrl.href;
}

let adminClient: Promise<pg.Client> | undefined;

/** Runs a statement on a connection that the tests of this process share. */
async function executeAsAdmin(url: string, sql: string): Promise<void> {
  adminClient ??= (async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {
      adminClient = undefined;
    });
    await client.connect();
    // The types lack `unref`. An open connection must not keep the process alive.
    (client as pg.Client & { unref(): void }).unref();
    return client;
  })();
  await (await adminClient).query(sql);
}

/** Creates a database with all migrations applied. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('testServer') as TestServer | undefined;
  if (!server) {
    throw new Error(
      'No test database. Run `npm test -- FILE` or vitest with server/vitest.config.ts.',
    );
  }
  const { url, template, strategy } = server;
  databaseCount += 1;
  const name = `${template}_${process.pid}_${databaseCount}`;
  await executeAsAdmin(url, `create database ${name} template ${template} strategy ${strategy}`);
  return {
    url: databaseUrl(url, name),
    drop: () => executeAsAdmin(url, `drop database if exists ${name} with (force)`),
  };
}
