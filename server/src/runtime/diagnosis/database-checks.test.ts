// Findings of the database checks for limits that a test database does not exceed.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/kit/app/database.ts';
import {
  checkClock,
  checkConnections,
  checkDeliveries,
  checkReplica,
  checkServer,
  checkTransactions,
  checkVersion,
} from './database-checks.ts';

let database: TestDatabase;
let client: pg.Client;
let otherClient: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  otherClient = new pg.Client({ connectionString: database.url });
  await client.connect();
  await otherClient.connect();
});
afterAll(async () => {
  await client.end();
  await otherClient.end();
  await database.drop();
});

it('checkServer states the version, and checkVersion warns about untested versions', async () => {
  expect((await checkServer(client)).detail).toMatch(/^PostgreSQL \d+\.\d+ responds\.$/);
  expect(checkVersion(150_000, '15.0').status).toBe('OK');
  expect(checkVersion(140_019, '14.19')).toMatchObject({
    status: 'WARNING',
    detail: 'PostgreSQL 14.19 responds.',
  });
});

it('checkTransactions reports a transaction that is open beyond the limit', async () => {
  await otherClient.query('begin');
  await otherClient.query('select 1');
  const finding = await checkTransactions(client, 0);
  await otherClient.query('rollback');
  expect(finding).toMatchObject({ status: 'WARNING', detail: expect.stringContaining('minutes') });
});

it.each([
  [0, 'OK'],
  [5_000, 'WARNING'],
  [-40_000, 'ERROR'],
])('checkClock reports a clock that differs by %i ms as %s', async (differenceMs, status) => {
  expect((await checkClock(client, () => Date.now() + differenceMs)).status).toBe(status);
});

it('checkConnections reports fewer connections than this machine needs', async () => {
  const maximum = Number((await client.query('show max_connections')).rows[0].max_connections);
  expect((await checkConnections(client, maximum)).status).toBe('WARNING');
});

it('checkReplica requires a synchronous replica in production only', async () => {
  expect((await checkReplica(client, false)).status).toBe('OK');
  expect((await checkReplica(client, true)).status).toBe('WARNING');
});

it('checkDeliveries reports a delivery that has been due for more than an hour', () => {
  expect(checkDeliveries(3_600).status).toBe('OK');
  expect(checkDeliveries(7_200).detail).toBe('A delivery has been due for 120 minutes.');
});
