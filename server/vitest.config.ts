// How `npm test` runs: one PostgreSQL for the whole run, three worker processes, each test file with databases
// of its own. Paths given on the command line start at the checkout.
import path from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * The run prints it. Files run in an order of this seed, since no test may depend on the order, and test
 * servers draw their random bytes from it, so that RAILHEAD_TEST_SEED repeats a run.
 */
const seed = Number(process.env.RAILHEAD_TEST_SEED ?? Date.now() % 1_000_000);

export default defineConfig({
  test: {
    root: path.dirname(import.meta.dirname),
    include: ['server/src/**/*.test.ts', 'server/test/**/*.test.ts', 'bench/src/**/*.test.ts'],
    globalSetup: 'server/test/kit/app/global-setup.ts',
    sequence: { shuffle: { files: true }, seed },
    env: { RAILHEAD_TEST_SEED: String(seed) },
    pool: 'forks',
    maxWorkers: 3,
    // The product keeps nothing in its modules that one test could see of another, and reading all of
    // them anew for each file took a third of the time.
    isolate: false,
    // Three files share two cores with PostgreSQL; slow is not wrong, hanging is.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 30_000,
  },
});
