// Configuration of `npm run test:cli`. The tests run the built program in separate processes,
// against test servers.
import path from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '../..'),
    include: ['packages/cli/{src,test}/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    // .ci/run runs these tests concurrently with the system tests, so the timeouts are long.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 30_000,
  },
});
