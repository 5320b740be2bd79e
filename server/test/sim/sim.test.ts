// A thousand steps with a seed that nobody has seen before, and the promise that a seed can be seen again.
import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/app/database.ts';
import { simulate } from './run.ts';

const PATIENCE_MS = 300_000;

async function run(seed: string, steps: number) {
  const database = await createTestDatabase();
  try {
    return await simulate({ seed, steps, databaseUrl: database.url });
  } finally {
    await database.drop();
  }
}

describe('the simulator', () => {
  it(
    'finds nothing wrong in a thousand steps of a fresh seed',
    async () => {
      const seed = String(randomInt(1_000_000_000));
      console.log(`npm run sim -- --seed ${seed} --steps 1000`);
      const report = await run(seed, 1_000);
      expect(report.transactions).toBeGreaterThan(50);
    },
    PATIENCE_MS,
  );

  it(
    'does the same for the same seed, and something else for another',
    async () => {
      const first = await run('again', 150);
      const second = await run('again', 150);
      expect(second).toEqual(first);
      expect((await run('other', 20)).trace).not.toBe((await run('again', 20)).trace);
    },
    PATIENCE_MS,
  );
});
