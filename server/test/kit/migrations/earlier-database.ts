// A database of an earlier version, for tests of migrations. The migrations before the tested one
// are applied first. The test adds rows before the remaining migrations are applied.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import { migrate } from '../../../src/runtime/db/migrate.ts';
import { databaseUrl, execute } from '../app/database.ts';

const MIGRATIONS = path.join(projectRoot(), 'server', 'migrations');

/** An empty database named `name`, opened before the tests of the file and dropped after them. */
export function earlierDatabase(name: string) {
  const database = `${name}_${process.pid}`;
  let folder: string;
  let client: pg.Client;
  const url = () => databaseUrl(inject('testServer').url, database);

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-migrations-'));
    await execute(inject('testServer').url, `create database ${database}`);
    client = new pg.Client({ connectionString: url() });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    fs.rmSync(folder, { recursive: true });
    await execute(inject('testServer').url, `drop database ${database} with (force)`);
  });

  return {
    query: <R extends object>(text: string, values?: readonly unknown[]) =>
      client.query<R>(text, values && [...values]),
    /** Applies the migrations before `next`, or all. */
    async migrateUntil(next?: string): Promise<void> {
      for (const file of fs.readdirSync(MIGRATIONS)) {
        if (next === undefined || file < next) {
          fs.copyFileSync(path.join(MIGRATIONS, file), path.join(folder, file));
        }
      }
      await migrate(url(), Date.now, folder);
    },
  };
}
