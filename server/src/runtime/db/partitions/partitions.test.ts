// Partitions of the next weeks, rows that arrive before their partition, and several concurrent processes.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createTestDatabase,
  TEST_START,
  type TestDatabase,
} from '../../../../test/kit/app/database.ts';
import { idsFrom } from '../../../kernel/id.ts';
import { migrate } from '../migrate.ts';
import {
  createPartitions,
  isSameWeek,
  listPartitions,
  mondayOf,
  needsPartitions,
  onClient,
  PARTITIONED_TABLES,
  WEEK_MS,
} from './partitions.ts';

const DAY_MS = 86_400_000;

describe('weeks', () => {
  it('begin on Monday, 00:00 UTC', () => {
    const monday = Date.UTC(2026, 10, 23);
    for (const time of [monday, monday + 1, monday + WEEK_MS - 1]) {
      expect(mondayOf(time)).toBe(monday);
    }
    expect(mondayOf(monday - 1)).toBe(monday - WEEK_MS);
  });

  it('of two IDs are compared by the times in the IDs', () => {
    const monday = Date.UTC(2026, 10, 23);
    const idAt = (time: number) => `${idsFrom('Webhook', time)}-7000-8000-000000000001`;
    expect(isSameWeek(idAt(monday), idAt(monday + WEEK_MS - 1))).toBe(true);
    expect(isSameWeek(idAt(monday - 1), idAt(monday))).toBe(false);
  });
});

describe('partitions', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("set timezone = 'UTC'");
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const eventId = (time: number, n = 1) =>
    `${idsFrom('Webhook', time)}-7000-8000-${String(n).padStart(12, '0')}`;
  const addEvent = (id: string) =>
    client.query(
      `insert into events (id, platform_id, type, subject, data, created_at)
        values ($1, 'p', 'TEST', 's', '{}', now())`,
      [id],
    );
  const partitionOf = async (id: string) => {
    const text = 'select tableoid::regclass::text as name from events where id = $1';
    return (await client.query<{ name: string }>(text, [id])).rows.map(({ name }) => name);
  };

  it('exist for this week and the next two weeks of every table', async () => {
    const partitions = await listPartitions(onClient(client));
    for (const { name } of PARTITIONED_TABLES) {
      const weeklyPartitions = partitions.filter(
        ({ table, isDefault }) => table === name && !isDefault,
      );
      const monday = mondayOf(TEST_START);
      expect(weeklyPartitions.map(({ from, until }) => [from, until])).toEqual(
        [0, 1, 2].map((n) => [monday + n * WEEK_MS, monday + (n + 1) * WEEK_MS]),
      );
    }
    expect(partitions.filter(({ isDefault }) => isDefault)).toHaveLength(PARTITIONED_TABLES.length);
    expect(await needsPartitions(onClient(client), TEST_START)).toBe(false);
  });

  it('receive rows by the time of their ID', async () => {
    const id = eventId(TEST_START + WEEK_MS);
    await addEvent(id);
    expect(await partitionOf(id)).toEqual(['partitions.events_20260112']);
    await expect(addEvent(id)).rejects.toMatchObject({ code: '23505' });
  });

  it('receive rows that were inserted before the partition existed', async () => {
    const db = onClient(client);
    const lateTime = TEST_START + 20 * WEEK_MS;
    const ids = [lateTime, lateTime + 3 * WEEK_MS].map((time) => eventId(time));
    for (const id of ids) await addEvent(id);
    expect(await partitionOf(ids[0] as string)).toEqual(['partitions.events_default']);
    expect(await needsPartitions(db, TEST_START)).toBe(true);
    expect(await createPartitions(db, TEST_START)).toBe(2);
    expect(await partitionOf(ids[0] as string)).toEqual(['partitions.events_20260525']);
    expect(await partitionOf(ids[1] as string)).toEqual(['partitions.events_20260615']);
    expect(await needsPartitions(db, TEST_START)).toBe(false);
    await expect(addEvent(ids[0] as string)).rejects.toMatchObject({ code: '23505' });
  });

  it('are created once by several processes while rows are inserted', async () => {
    const now = TEST_START + 40 * WEEK_MS;
    const connections = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const connection = new pg.Client({ connectionString: database.url });
        await connection.connect();
        return connection;
      }),
    );
    const inserts = Array.from({ length: 50 }, (_, n) => addEvent(eventId(now + n * DAY_MS, n)));
    const creations = await Promise.allSettled(
      connections.map((each) => createPartitions(onClient(each), now)),
    );
    await Promise.all(inserts);
    await Promise.all(connections.map((each) => each.end()));
    const failures = creations.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    // A lock was not granted in time.
    for (const failure of failures) expect(failure).toMatchObject({ code: '55P03' });
    expect(failures.length).toBeLessThan(connections.length);
    await createPartitions(onClient(client), now);
    const { rows } = await client.query<{ count: number }>(
      'select count(distinct id)::int as count from events where id >= $1',
      [idsFrom('Webhook', now)],
    );
    expect(rows).toEqual([{ count: 50 }]);
    expect(await needsPartitions(onClient(client), now)).toBe(false);
  });

  it('are created at the start of a process', async () => {
    const now = TEST_START + 100 * WEEK_MS;
    expect(await needsPartitions(onClient(client), now)).toBe(true);
    expect(await migrate(database.url, () => now)).toEqual([]);
    expect(await needsPartitions(onClient(client), now)).toBe(false);
  });
});
