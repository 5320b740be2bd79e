// How `npm run test:cli` runs: the built program in processes of its own, against servers of the tests.
import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    include: ['packages/cli/{src,test}/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    // .ci/run runs it beside the tests of whole processes; slow is not wrong, hanging is.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 30_000,
  },
});
