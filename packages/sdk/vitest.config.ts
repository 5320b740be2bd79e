// Configuration of `npm run test:sdk`: uses the database, the servers and the scenarios of the
// server's tests. The scenarios of the examples run through the SDK over HTTP, in place of the
// recorder's requests.
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const root = path.resolve(import.meta.dirname, '../..');

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^.*\/kit\/http\/examples\.ts$/,
        replacement: path.join(import.meta.dirname, 'test/kit/examples.ts'),
      },
    ],
  },
  test: {
    root,
    include: ['packages/sdk/{src,test}/**/*.test.ts', 'server/test/examples/*.test.ts'],
    // The sample test compares the reference with a server. Errors are replies to requests that the
    // types of the SDK reject. Both do not apply to the SDK.
    exclude: ['server/test/examples/{errors,sample}.test.ts', '**/node_modules/**', '**/dist/**'],
    globalSetup: 'server/test/kit/app/global-setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    isolate: false,
    // .ci/run runs it concurrently with other tests, so the limit only detects tests that never end.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
