// A thousand steps with the seed of the run, which is another each time, and the promise that a seed repeats.
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
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
    'finds nothing wrong in a thousand steps of the seed of this run',
    async () => {
      const seed = runSeed();
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
