// Some hundred steps with the seed of the test run, which varies, and the reproducibility of a seed.
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../kit/app/database.ts';
import { runSeed } from '../kit/app/effects.ts';
import { lengthOf } from '../kit/length.ts';
import { simulate } from './run.ts';

const STEPS = lengthOf(400, 5_000);
const REPEATED = lengthOf(80, 150);
const TIMEOUT_MS = 900_000;

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
    'finds no violation in the steps of a random seed',
    async () => {
      const seed = runSeed();
      console.log(`npm run sim -- --seed ${seed} --steps ${STEPS}`);
      const report = await run(seed, STEPS);
      expect(report.transactions).toBeGreaterThan(STEPS / 20);
    },
    TIMEOUT_MS,
  );

  it(
    'repeats a run for the same seed and differs for another',
    async () => {
      const firstReport = await run('again', REPEATED);
      const secondReport = await run('again', REPEATED);
      expect(secondReport).toEqual(firstReport);
      expect((await run('other', 20)).trace).not.toBe((await run('again', 20)).trace);
    },
    TIMEOUT_MS,
  );
});
