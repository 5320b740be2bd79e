// How `npm test` runs: one PostgreSQL for the whole run, two worker processes, each test
// file with its own databases. Paths given on the command line start at the checkout.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The run prints it. Files run in an order of this seed, since no test may depend on the order, and test
 * servers draw their random bytes from it, so that RAILHEAD_TEST_SEED repeats a run.
 */
const seed = Number(process.env.RAILHEAD_TEST_SEED ?? Date.now() % 1_000_000);

/** Tests of whole processes: in browsers and shells, under signals and kills, and the simulator. */
const SYSTEM = ['browser', 'console', 'guides', 'processes', 'sim'].map(
  (name) => `server/test/${name}/**`,
);
/** Random attacks on a server process: `npm run attack`, a job of its own. */
const ATTACK = 'server/test/attack/**';
/** Tests of a database cluster, which need Debian's packages: `npm run test:cluster`. */
const CLUSTER = 'server/test/cluster/**';
const TESTS = ['server/src/**/*.test.ts', 'server/test/**/*.test.ts', 'bench/src/**/*.test.ts'];
/** `scripts/test.mjs` sets it. Absent: all tests, of which the command line selects some. */
const suite = process.env.RAILHEAD_TEST_SUITE;

/** Files that take half a minute and more run first, so that no worker is left alone with one at the end. */
const LONG = new Set(
  [
    ...['guides', 'site', 'crash', 'crash-three-processes', 'signals', 'invariants', 'stop'],
    ...['reference', 'event-followers.property', 'replay-kill', 'hosted-pages', 'flat'],
    ...['screens', 'stories', 'changes', 'upgrade', 'release'],
  ].map((name) => `${name}.test.ts`),
);

const keyOf = ({ moduleId }: TestSpecification) =>
  (LONG.has(path.basename(moduleId)) ? '0' : '1') +
  createHash('sha256').update(`${seed} ${moduleId}`).digest('hex');

/** The order of a seed, the long files first. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    return files.sort((first, other) => (keyOf(first) < keyOf(other) ? -1 : 1));
  }
}

function includedTests(): string[] {
  if (suite === 'system') return SYSTEM.map((folder) => `${folder}/*.test.ts`);
  return suite === 'cluster' ? [`${CLUSTER}/*.test.ts`] : TESTS;
}

export default defineConfig({
  test: {
    root: path.dirname(import.meta.dirname),
    include: includedTests(),
    exclude: suite === 'main' ? [...SYSTEM, ATTACK, CLUSTER] : [],
    globalSetup:
      suite === 'cluster'
        ? 'server/test/kit/cluster/global-setup.ts'
        : 'server/test/kit/app/global-setup.ts',
    sequence: { shuffle: { files: true }, sequencer: LongFilesFirst, seed },
    env: { RAILHEAD_TEST_SEED: String(seed) },
    pool: 'forks',
    // As of the server: fewer collections.
    execArgv: ['--max-semi-space-size=64'],
    // A third worker of the system tests only made all of them wait, until some reached their limits.
    maxWorkers: suite === 'cluster' ? 1 : 2,
    // The product keeps nothing in its modules that one test could see of another, and reading all of
    // them anew for each file took a third of the time.
    isolate: false,
    // The next run reads what this one has compiled, for example the second suite of .ci/run.
    experimental: { fsModuleCache: true },
    // Files share two cores with PostgreSQL. Slow is not wrong, hanging is.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 30_000,
  },
});
