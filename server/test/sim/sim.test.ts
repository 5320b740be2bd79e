// A thousand steps with the seed of the test run, which varies, and the reproducibility of a seed.
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { simulate } from './run.ts';

const TIMEOUT_MS = 300_000;

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
    'finds no violation in a thousand steps of a random seed',
    async () => {
      const seed = runSeed();
      console.log(`npm run sim -- --seed ${seed} --steps 1000`);
      const report = await run(seed, 1_000);
      expect(report.transactions).toBeGreaterThan(50);
    },
    TIMEOUT_MS,
  );

  it(
    'repeats a run for the same seed and differs for another',
    async () => {
      const firstReport = await run('again', 150);
      const secondReport = await run('again', 150);
      expect(secondReport).toEqual(firstReport);
      expect((await run('other', 20)).trace).not.toBe((await run('again', 20)).trace);
    },
    TIMEOUT_MS,
  );
});
