// Migration of the queue and the attempts of an earlier version, which had one endpoint.
import { expect, it } from 'vitest';
import { earlierDatabase } from '../../../test/kit/migrations/earlier-database.ts';

const database = earlierDatabase('webhook_migration');

it('migrated deliveries and attempts belong to the configured endpoint', async () => {
  await database.migrateUntil('0052');
  await database.query(`insert into events (id, platform_id, type, subject, data, created_at)
    select 'Webhook:' || n, 'p', 'TEST', 's', '{}', now() from generate_series(1, 4) n`);
  await database.query(`insert into webhook_queue (event_id, platform_id, due_at, attempts)
    values ('Webhook:1', 'p', '2026-01-01', 1)`);
  await database.query(`insert into webhook_attempts (id, event_id, attempt, at, ms, result) values
    ('Webhook:1/1', 'Webhook:1', 1, now(), 1, 'dropped'),
    ('Webhook:2/1', 'Webhook:2', 1, now(), 1, 'dropped'),
    ('Webhook:2/2', 'Webhook:2', 2, now(), 1, 'delivered'),
    ('Webhook:3/1', 'Webhook:3', 1, now(), 1, 'dropped'),
    ('Webhook:4/1', 'Webhook:4', 1, now(), 1, 'retry')`);
  await database.migrateUntil();
  const queueSql = 'select platform_id, endpoint, event_id, attempts from webhook_queue';
  expect((await database.query(queueSql)).rows).toEqual([
    { platform_id: 'p', endpoint: 0, event_id: 'Webhook:1', attempts: 1 },
  ]);
  const attempts = await database.query(`select endpoint, event_id, attempt, result
    from webhook_attempts order by event_id, attempt`);
  expect(attempts.rows).toEqual([
    { endpoint: 0, event_id: 'Webhook:1', attempt: 1, result: 'retry' },
    { endpoint: 0, event_id: 'Webhook:2', attempt: 1, result: 'retry' },
    { endpoint: 0, event_id: 'Webhook:2', attempt: 2, result: 'delivered' },
    { endpoint: 0, event_id: 'Webhook:3', attempt: 1, result: 'dropped' },
    // The event is absent from the queue, because its endpoint was removed or its data erased.
    { endpoint: 0, event_id: 'Webhook:4', attempt: 1, result: 'dropped' },
  ]);
});
