// Migrations of databases in every state: new, partly migrated, up to date, concurrently migrated,
// changed, broken.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { databaseUrl, execute } from '../../../test/kit/app/database.ts';
import { migrate } from './migrate.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
let folder: string;
let url: string;

const write = (name: string, sql: string) => fs.writeFileSync(path.join(folder, name), sql);
const run = () => migrate(url, () => AT, folder);

async function rows(sql: string): Promise<unknown[]> {
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

  it('does nothing for an empty or missing folder', async () => {
    expect(await run()).toEqual([]);
    expect(await migrate(url, () => AT, path.join(folder, 'none'))).toEqual([]);
  });

  it('applies each file once, in order, with the given time', async () => {
    write('0002_b.sql', 'insert into a values (1); insert into a values (2)');
    write('0001_a.sql', 'create table a (n int);');
    expect(await run()).toEqual(['0001_a.sql', '0002_b.sql']);
    write('0003_c.sql', 'insert into a values (3)');
    expect(await run()).toEqual(['0003_c.sql']);
    expect(await run()).toEqual([]);
    expect(await rows('select n from a order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const times = await rows('select distinct applied_at from schema_migrations');
    expect(times).toEqual([{ applied_at: new Date(AT) }]);
  });

  it('is safe for concurrent processes', async () => {
    write('0001_a.sql', 'create table a (n int); select pg_sleep(0.2)');
    write('0002_b.sql', 'insert into a values (1)');
    const done = await Promise.all([run(), run(), run(), run()]);
    expect(done.map((names) => names.length).sort()).toEqual([0, 0, 0, 2]);
    expect(await rows('select n from a')).toEqual([{ n: 1 }]);
  });

  it('keeps the files before a broken one, nothing of that file, and reports its line', async () => {
    write('0001_a.sql', 'create table a (n int)');
    write('0002_b.sql', 'insert into a values (1);\n\ninsert into nowhere values (1);');
    await expect(run()).rejects.toMatchObject({
      name: 'MigrationError',
      message: 'Migration 0002_b.sql line 3: relation "nowhere" does not exist',
    });
    expect(await rows('select n from a')).toEqual([]);
    write('0002_b.sql', 'insert into a values (1)');
    expect(await run()).toEqual(['0002_b.sql']);
  });

  it('rejects a changed file, an unknown migration and one that is out of order', async () => {
    write('0002_b.sql', 'create table b ()');
    await run();
    write('0001_a.sql', 'create table a ()');
    await expect(run()).rejects.toThrow(/0001_a.sql sorts before 0002_b.sql/);
    fs.rmSync(path.join(folder, '0001_a.sql'));
    write('0002_b.sql', 'create table b (n int)');
    await expect(run()).rejects.toThrow(/0002_b.sql was changed after it was applied/);
    fs.rmSync(path.join(folder, '0002_b.sql'));
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
      'Migration first.sql is not named like 0001_some_words.sql.',
    );
  });
});
