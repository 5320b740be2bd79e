// Runs several hundred steps with the seed of the test run, and verifies that a seed reproduces a
// run.
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { lengthOf } from '../kit/length.ts';
import { simulate } from './run.ts';

const STEPS = lengthOf(400, 5_000);
const REPEATED_STEPS = lengthOf(80, 150);
const TIMEOUT_MS = 900_000;

async function simulateSeed(seed: string, steps: number) {
  const database = await createTestDatabase();
  try {
    return await simulate({ seed, steps, databaseUrl: database.url });
  } finally {
    await database.drop();
  }
}

describe('the simulator', () => {
  it(
    'finds no violation in the steps of a random seed',
    async () => {
      const seed = runSeed();
      console.log(`npm run sim -- --seed ${seed} --steps ${STEPS}`);
      const report = await simulateSeed(seed, STEPS);
      expect(report.transactions).toBeGreaterThan(STEPS / 20);
    },
    TIMEOUT_MS,
  );

  it(
    'repeats a run for the same seed, and performs another run for another seed',
    async () => {
      const firstReport = await simulateSeed('again', REPEATED_STEPS);
      const secondReport = await simulateSeed('again', REPEATED_STEPS);
      expect(secondReport).toEqual(firstReport);
      expect((await simulateSeed('other', 20)).trace).not.toBe(
        (await simulateSeed('again', 20)).trace,
      );
    },
    TIMEOUT_MS,
  );
});
