// Migrations of databases in every state: new, partly migrated, current, concurrently migrated, changed and
// invalid.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { databaseUrl, execute } from '../../../test/kit/app/database.ts';
import { announceMigrations, contract, migrate, readPendingMigrations } from './migrate.ts';

const APPLIED_AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
let folder: string;
let url: string;

const write = (name: string, sql: string) => fs.writeFileSync(path.join(folder, name), sql);
const run = () => migrate(url, () => APPLIED_AT_MS, folder);

async function queryRows(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('migrate', () => {
  const name = `migrate_${process.pid}`;
  beforeEach(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-migrate-'));
    const server = inject('testServer');
    url = databaseUrl(server.url, name);
    await execute(server.url, `create database ${name}`);
  });
  afterEach(async () => {
    fs.rmSync(folder, { recursive: true });
    await execute(inject('testServer').url, `drop database ${name} with (force)`);
  });

  it('accepts an empty or missing folder', async () => {
    expect(await run()).toEqual([]);
    expect(await migrate(url, () => APPLIED_AT_MS, path.join(folder, 'none'))).toEqual([]);
  });

  it('applies each file once, in order, with the time of the clock', async () => {
    write('0002_b.sql', 'insert into a values (1); insert into a values (2)');
    write('0001_a.sql', 'create table a (n int);');
    expect(await run()).toEqual(['0001_a.sql', '0002_b.sql']);
    write('0003_c.sql', 'insert into a values (3)');
    expect(await run()).toEqual(['0003_c.sql']);
    expect(await run()).toEqual([]);
    expect(await queryRows('select n from a order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const times = await queryRows('select distinct applied_at from schema_migrations');
    expect(times).toEqual([{ applied_at: new Date(APPLIED_AT_MS) }]);
  });

  it('applies each file once for concurrent processes', async () => {
    write('0001_a.sql', 'create table a (n int); select pg_sleep(0.2)');
    write('0002_b.sql', 'insert into a values (1)');
    const results = await Promise.all([run(), run(), run(), run()]);
    expect(results.map((names) => names.length).sort()).toEqual([0, 0, 0, 2]);
    expect(await queryRows('select n from a')).toEqual([{ n: 1 }]);
  });

  it('rolls back only an invalid file and reports its line', async () => {
    write('0001_a.sql', 'create table a (n int)');
    write('0002_b.sql', 'insert into a values (1);\n\ninsert into nowhere values (1);');
    await expect(run()).rejects.toMatchObject({
      name: 'MigrationError',
      message: 'Migration 0002_b.sql line 3: relation "nowhere" does not exist',
    });
    expect(await queryRows('select n from a')).toEqual([]);
    write('0002_b.sql', 'insert into a values (1)');
    expect(await run()).toEqual(['0002_b.sql']);
  });

  it('rejects a changed file, an unknown migration and a migration out of order', async () => {
    write('0002_b.sql', 'create table b ()');
    await run();
    write('0001_a.sql', 'create table a ()');
    await expect(run()).rejects.toThrow(/0001_a.sql sorts before 0002_b.sql/);
    fs.rmSync(path.join(folder, '0001_a.sql'));
    write('0002_b.sql', 'create table b (n int)');
    await expect(run()).rejects.toThrow(/0002_b.sql was changed after it was applied/);
    fs.rmSync(path.join(folder, '0002_b.sql'));
    // The state of migrations that were applied by a version that did not distinguish expansions.
    await execute(url, 'update schema_migrations set phase = null');
    await expect(run()).rejects.toThrow(/has migration 0002_b.sql, which this version lacks/);
  });

  it('ignores different line ends', async () => {
    write('0001_a.sql', 'create table a\n();\n');
    await run();
    write('0001_a.sql', 'create table a\r\n();\r\n');
    expect(await run()).toEqual([]);
  });

  it('rejects a file name without a position in the order', async () => {
    write('first.sql', 'select 1');
    await expect(run()).rejects.toThrow(
      'Migration first.sql is not named like 0001_some_words.sql. Rename the file.',
    );
  });

  describe('in two steps', () => {
    const REJECTION = 'Migration 0003_c.sql needs servers with migration 0002';
    const contractNow = () => contract(url, () => APPLIED_AT_MS, folder);
    let server: pg.Client;

    /** Starts a server that includes the present migrations of the folder. */
    async function startServer(): Promise<void> {
      server = new pg.Client({ connectionString: url });
      await server.connect();
      await announceMigrations(server, folder);
    }

    beforeEach(async () => {
      write('0001_a.sql', 'create table a (old int)');
      await run();
      await startServer();
      write('0002_b.sql', 'alter table a add column new int');
      write('0003_c.sql', '-- contract after 0002\nalter table a drop column old');
      write('0004_d.sql', 'create table d ()');
    });
    afterEach(() => server.end());

    it('expands at a start and contracts when no earlier version runs', async () => {
      expect(await readPendingMigrations(url, folder)).toEqual({
        expansions: ['0002_b.sql', '0004_d.sql'],
        contractions: ['0003_c.sql'],
      });
      expect(await run()).toEqual(['0002_b.sql', '0004_d.sql']);
      expect(await run()).toEqual([]);
      await expect(contractNow()).rejects.toThrow(REJECTION);
      expect(await queryRows('select old, new from a')).toEqual([]);
      await server.end();
      await startServer();
      expect(await contractNow()).toEqual(['0003_c.sql']);
      expect(await contractNow()).toEqual([]);
      await expect(queryRows('select old from a')).rejects.toThrow('column "old" does not exist');
    });

    it('serves the previous version only until the contraction', async () => {
      await run();
      const names = ['0002_b.sql', '0003_c.sql', '0004_d.sql'];
      const texts = names.map((file) => fs.readFileSync(path.join(folder, file), 'utf8'));
      for (const file of names) fs.rmSync(path.join(folder, file));
      expect(await run()).toEqual([]);
      await announceMigrations(server, folder);
      await server.end();
      names.forEach((file, index) => {
        write(file, texts[index] as string);
      });
      await contractNow();
      for (const file of names) fs.rmSync(path.join(folder, file));
      await expect(run()).rejects.toThrow('has migration 0003_c.sql, which this version lacks');
      // A server that started before the contraction and connects after it.
      await expect(startServer()).rejects.toThrow('0003_c.sql, which this version lacks');
    });

    it('applies all migrations to a new database in one start', async () => {
      await server.end();
      const otherDatabase = `${name}_new`;
      await execute(inject('testServer').url, `create database ${otherDatabase}`);
      const appliedNames = await migrate(
        databaseUrl(url, otherDatabase),
        () => APPLIED_AT_MS,
        folder,
      );
      await execute(inject('testServer').url, `drop database ${otherDatabase} with (force)`);
      expect(appliedNames).toEqual(['0001_a.sql', '0002_b.sql', '0003_c.sql', '0004_d.sql']);
    });

    it('delays a server that connects during a contraction until it is complete', async () => {
      write('0003_c.sql', '-- contract after 0002\nselect pg_sleep(0.5)');
      await run();
      await server.end();
      const contraction = contractNow();
      await expect
        .poll(() =>
          queryRows("select 1 from pg_locks where locktype = 'advisory' and mode ~ '^Excl'"),
        )
        .not.toEqual([]);
      fs.rmSync(path.join(folder, '0003_c.sql'));
      await expect(startServer()).rejects.toThrow('0003_c.sql, which this version lacks');
      await contraction;
    });

    it('waits for a lock only briefly and tries again', async () => {
      const reader = new pg.Client({ connectionString: url });
      await reader.connect();
      await reader.query('begin; select old from a');
      const migration = run();
      await expect
        .poll(() => queryRows('select 1 from pg_locks where not granted'))
        .not.toEqual([]);
      // A payment waits for the lock of the migration for less than its lock timeout.
      await execute(url, "set lock_timeout = '3s'; insert into a values (1)");
      await reader.query('commit');
      await reader.end();
      expect(await migration).toEqual(['0002_b.sql', '0004_d.sql']);
      expect(await queryRows('select old, new from a')).toEqual([{ old: 1, new: null }]);
    });

    it('changes nothing if a migration would block a large table while servers run', async () => {
      await execute(url, 'insert into a select generate_series(1, 300000); analyze a');
      write(
        '0005_e.sql',
        '-- offline a, 10 s per million rows\nalter table a alter old type bigint',
      );
      await expect(run()).rejects.toThrow(
        'Migration 0005_e.sql blocks the table a for about 3 s (300000 rows). Stop all other',
      );
      expect(await queryRows("select to_regclass('d') as d")).toEqual([{ d: null }]);
      await server.end();
      expect(await run()).toEqual(['0002_b.sql', '0004_d.sql', '0005_e.sql']);
    });
  });
});
