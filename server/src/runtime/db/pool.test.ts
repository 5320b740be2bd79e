// A pool opens connections for concurrent queries, closes idle connections and replaces old connections.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSample, type Sample } from '../../../test/kit/app/sample-tables.ts';
import { CONNECTION_LIMITS } from './connections/limits.ts';
import { createPool } from './pool.ts';

let sample: Sample;

beforeAll(async () => {
  sample = await createSample();
});

afterAll(() => sample.drop());

it('a pool closes all idle connections except one and opens them again', async () => {
  const pool = createPool({ ...CONNECTION_LIMITS, url: sample.url, size: 4, idleMs: 500 });
  const run = (text: string) => pool.run({ text, values: [], prepared: false, repeatable: false });
  const runFour = () => Promise.all(Array.from({ length: 4 }, () => run('select pg_sleep(0.05)')));
  const countConnections = async () => {
    const [row] = await run(`select count(*)::int4 as count from pg_stat_activity
      where application_name = 'railhead reader' and datname = current_database()`);
    return row?.count;
  };
  try {
    for (let round = 0; round < 2; round++) {
      await runFour();
      expect(await countConnections()).toBeGreaterThan(1);
      await vi.waitUntil(async () => (await countConnections()) === 1, {
        timeout: 15_000,
        interval: 100,
      });
    }
    // A query in progress keeps its connection.
    await Promise.all([run('select pg_sleep(0.4)'), run('select pg_sleep(0.4)')]);
  } finally {
    await pool.close();
  }
});

it('a pool replaces old connections after their queries', async () => {
  const pool = createPool({
    ...{ ...CONNECTION_LIMITS, maxAgeMs: 400 },
    ...{ url: sample.url, size: 1, idleMs: 50 },
  });
  const run = (text: string) => pool.run({ text, values: [], prepared: false, repeatable: false });
  const readBackend = async () => (await run('select pg_backend_pid() as pid'))[0]?.pid;
  try {
    const firstBackend = await readBackend();
    // The query is in flight while the connection exceeds its maximum age.
    const slowQuery = run('select pg_backend_pid() as pid from pg_sleep(0.8)');
    expect((await slowQuery)[0]?.pid).toBe(firstBackend);
    await vi.waitUntil(async () => (await readBackend()) !== firstBackend, {
      timeout: 5_000,
      interval: 20,
    });
  } finally {
    await pool.close();
  }
});
