// Starts a PostgreSQL server before all tests and stops it after them, with the template database
// that createTestDatabase copies. The server is the embedded one with `fsync` off, one with
// the programs of RAILHEAD_TEST_POSTGRES, or the one of TEST_DATABASE_URL. The embedded server
// exits when the run is killed. The next run removes its folder.
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../../src/runtime/db/migrate.ts';
import { startEmbedded } from '../../../src/runtime/postgres/embedded.ts';
import { startOtherPostgres } from '../postgres/other-postgres.ts';
import { databaseUrl, execute, TEST_START, type TestServer } from './database.ts';
import { scratchFolder } from './scratch.ts';

const PREFIX = 'railhead-test-';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function removeLeftovers(base: string): void {
  for (const name of fs.readdirSync(base)) {
    const pid = name.startsWith(PREFIX) && Number.parseInt(name.slice(PREFIX.length), 10);
    if (!pid || isRunning(pid)) continue;
    try {
      fs.rmSync(path.join(base, name), { recursive: true, force: true });
    } catch {
      // Another user owns the folder.
    }
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const externalUrl = process.env.TEST_DATABASE_URL;
  if (externalUrl) return { url: externalUrl, stop: async () => undefined };
  const base = scratchFolder();
  removeLeftovers(base);
  const dir = fs.mkdtempSync(path.join(base, `${PREFIX}${process.pid}-`));
  // Tests of several processes run concurrently, with up to 12 connections per process.
  const binaries = process.env.RAILHEAD_TEST_POSTGRES;
  const postgres = binaries
    ? await startOtherPostgres(binaries, dir)
    : await startEmbedded({ dir, durable: false, maxConnections: 300 });
  // Runs on Ctrl-C too. The database may still write while it shuts down. Then the next run removes
  // the folder.
  const remove = () => {
    try {
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // The next run removes the folder.
    }
  };
  process.once('exit', remove);
  const stop = async () => {
    await postgres.stop();
    remove();
    process.off('exit', remove);
  };
  return { url: postgres.url, stop };
}

/** Drops the template and every remaining copy of it. */
async function dropAll(url: string, template: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where datname like $1',
    [`${template}%`],
  );
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  await client.end();
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startServer();
  const template = `railhead_test_${process.pid}`;
  const isExternal = process.env.TEST_DATABASE_URL !== undefined;
  try {
    await execute(url, `create database ${template}`);
    // The template has the partitions for the time at which tests begin.
    await migrate(databaseUrl(url, template), () => TEST_START);
  } catch (error) {
    if (isExternal) await dropAll(url, template).catch(() => undefined);
    await stop();
    throw error;
  }
  const testServer: TestServer = { url, template, strategy: isExternal ? 'wal_log' : 'file_copy' };
  project.provide('testServer', testServer);
  return async () => {
    if (isExternal) await dropAll(url, template);
    await stop();
  };
}
