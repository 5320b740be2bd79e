// The queue and the attempts of a database of an earlier version, which had one endpoint.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { databaseUrl, execute } from '../../../test/kit/app/database.ts';
import { projectRoot } from '../config/root.ts';
import { migrate } from './migrate.ts';

const ALL = path.join(projectRoot(), 'server', 'migrations');
const name = `webhook_migration_${process.pid}`;
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
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-webhooks-'));
  await execute(inject('testServer').url, `create database ${name}`);
  client = new pg.Client({ connectionString: databaseUrl(inject('testServer').url, name) });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  fs.rmSync(folder, { recursive: true });
  await execute(inject('testServer').url, `drop database ${name} with (force)`);
});

it('belong to the configured endpoint, and what was sent again is not dropped', async () => {
  await migrateUntil('0052');
  await client.query(`insert into events (id, platform_id, type, subject, data, created_at)
    select 'Webhook:' || n, 'p', 'TEST', 's', '{}', now() from generate_series(1, 3) n`);
  await client.query(`insert into webhook_queue (event_id, platform_id, due_at, attempts)
    values ('Webhook:1', 'p', '2026-01-01', 1)`);
  await client.query(`insert into webhook_attempts (id, event_id, attempt, at, ms, result) values
    ('Webhook:1/1', 'Webhook:1', 1, now(), 1, 'dropped'),
    ('Webhook:2/1', 'Webhook:2', 1, now(), 1, 'dropped'),
    ('Webhook:2/2', 'Webhook:2', 2, now(), 1, 'delivered'),
    ('Webhook:3/1', 'Webhook:3', 1, now(), 1, 'dropped')`);
  await migrateUntil();
  const queue = 'select platform_id, endpoint, event_id, attempts from webhook_queue';
  expect((await client.query(queue)).rows).toEqual([
    { platform_id: 'p', endpoint: 0, event_id: 'Webhook:1', attempts: 1 },
  ]);
  const attempts = await client.query(`select endpoint, event_id, attempt, result
    from webhook_attempts order by event_id, attempt`);
  expect(attempts.rows).toEqual([
    { endpoint: 0, event_id: 'Webhook:1', attempt: 1, result: 'retry' },
    { endpoint: 0, event_id: 'Webhook:2', attempt: 1, result: 'retry' },
    { endpoint: 0, event_id: 'Webhook:2', attempt: 2, result: 'delivered' },
    { endpoint: 0, event_id: 'Webhook:3', attempt: 1, result: 'dropped' },
  ]);
});
