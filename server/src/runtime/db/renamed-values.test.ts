// Stored values that migrations rename, in a database that was filled by an earlier version.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { databaseUrl, execute } from '../../../test/kit/app/database.ts';
import { projectRoot } from '../config/root.ts';
import { migrate } from './migrate.ts';

const ALL = path.join(projectRoot(), 'server', 'migrations');
const name = `renamed_values_${process.pid}`;
let folder: string;
let client: pg.Client;

/** Applies the migrations before `next`, or all. */
async function migrateUntil(next?: string): Promise<void> {
  for (const file of fs.readdirSync(ALL)) {
    if (next === undefined || file < next) {
      fs.copyFileSync(path.join(ALL, file), path.join(folder, file));
    }
  }
  await migrate(databaseUrl(inject('testServer').url, name), Date.now, folder);
}

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-renamed-'));
  await execute(inject('testServer').url, `create database ${name}`);
  client = new pg.Client({ connectionString: databaseUrl(inject('testServer').url, name) });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  fs.rmSync(folder, { recursive: true });
  await execute(inject('testServer').url, `drop database ${name} with (force)`);
});

const JOB = `insert into jobs (id, kind, platform_id, input, due_at) values ($1, $2, 'p', $3, now())`;

it('keep their meaning: input of jobs, actions on accounts, kinds of transfers', async () => {
  await migrateUntil('0043');
  const jobs: [string, object, object][] = [
    ['payout.send', { transactionId: 't', ask: 'check' }, { transactionId: 't', request: 'check' }],
    ['refund.send', { transactionId: 't' }, { transactionId: 't' }],
    ['cards.pull', { at: 0, asked: true, tries: 3 }, { at: 0, requested: true, attempts: 3 }],
    ['cards.pull', { at: 1, asked: true }, { at: 1, requested: true }],
    ['cards.pull', { at: 2 }, { at: 2 }],
  ];
  for (const [at, [kind, before]] of jobs.entries()) {
    await client.query(JOB, [`Job:${at}`, kind, before]);
  }
  await client.query(`insert into account_actions
      (id, account_id, platform_id, actor, action, reason, created_at)
    values ('AccountAction:1', 'a', 'p', 'operator', 'refuse', 'r', now())`);
  await client.query(`insert into awaited_rail_results (id, platform_id, kind, since)
    values ('Transaction:1', 'p', 'pull', now()), ('Transaction:2', 'p', 'payout', now())`);
  await client.query(`insert into rail_results (id, transaction_id, kind, state, created_at) values
    ('Transaction:1/pull/settled', 'Transaction:1', 'pull', 'settled', now()),
    ('Transaction:2/payout/failed', 'Transaction:2', 'payout', 'failed', now())`);
  await migrateUntil();
  const stored = await client.query('select input from jobs order by id');
  expect(stored.rows.map(({ input }) => input)).toEqual(jobs.map(([, , after]) => after));
  const actions = await client.query('select action from account_actions');
  expect(actions.rows).toEqual([{ action: 'reject' }]);
  const awaited = await client.query('select kind from awaited_rail_results order by id');
  expect(awaited.rows).toEqual([{ kind: 'debit' }, { kind: 'payout' }]);
  const results = await client.query('select id, kind from rail_results order by id');
  expect(results.rows).toEqual([
    { id: 'Transaction:1/debit/settled', kind: 'debit' },
    { id: 'Transaction:2/payout/failed', kind: 'payout' },
  ]);
});
