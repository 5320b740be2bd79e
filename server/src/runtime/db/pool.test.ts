// Connections of a pool: opened by concurrent queries, closed when idle.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSample, type Sample } from '../../../test/kit/app/sample-tables.ts';
import { createPool } from './pool.ts';

let sample: Sample;

beforeAll(async () => {
  sample = await createSample();
});

afterAll(() => sample.drop());

it('closes idle connections, all but one, and opens them again', async () => {
  const pool = createPool({ url: sample.url, size: 4, statementTimeoutMs: 5_000, idleMs: 500 });
  const run = (text: string) => pool.run({ text, values: [], keep: false, repeatable: false });
  const runFour = () => Promise.all(Array.from({ length: 4 }, () => run('select pg_sleep(0.05)')));
  const connections = async () => {
    const [row] = await run(`select count(*)::int4 as count from pg_stat_activity
      where application_name = 'railhead reader' and datname = current_database()`);
    return row?.count;
  };
  try {
    for (let times = 0; times < 2; times++) {
      await runFour();
      expect(await connections()).toBeGreaterThan(1);
      await vi.waitUntil(async () => (await connections()) === 1, {
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
