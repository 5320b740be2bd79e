// Configuration of `npm test`: one PostgreSQL for the whole run, two worker processes, and separate
// databases for each test file. Paths on the command line start at the checkout.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seed of the order of test files and of the random bytes of test servers. The run prints the seed,
 * and RAILHEAD_TEST_SEED repeats a run. No test may depend on the order.
 */
const seed = Number(process.env.RAILHEAD_TEST_SEED ?? Date.now() % 1_000_000);

/** Tests of whole processes: in browsers and shells, under signals and kills, and the simulator. */
const SYSTEM = ['browser', 'console', 'guides', 'processes', 'sim'].map(
  (name) => `server/test/${name}/**`,
);
/** Random attacks on a server process, run by `npm run attack`. */
const ATTACK = 'server/test/attack/**';
/** Tests of a database cluster, run by `npm run test:cluster`. The tests need Debian's packages. */
const CLUSTER = 'server/test/cluster/**';
const TESTS = ['server/src/**/*.test.ts', 'server/test/**/*.test.ts', 'bench/src/**/*.test.ts'];
/**
 * Name of the suite, set by `scripts/test.mjs`. Without a name, the command line selects from all
 * tests.
 */
const suite = process.env.RAILHEAD_TEST_SUITE;

/** Files that need 30 seconds or more run first, so that none of them runs alone at the end. */
const LONG_FILES = new Set(
  [
    ...['guides', 'site', 'crash', 'crash-three-processes', 'signals', 'invariants', 'stop'],
    ...['reference', 'event-followers.property', 'replay-kill', 'hosted-pages', 'flat'],
    ...['screens', 'stories', 'changes', 'upgrade', 'release', 'errors'],
  ].map((name) => `${name}.test.ts`),
);

const keyOf = ({ moduleId }: TestSpecification) =>
  (LONG_FILES.has(path.basename(moduleId)) ? '0' : '1') +
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
    // The same value as for the server, for fewer garbage collections.
    execArgv: ['--max-semi-space-size=64'],
    // With a third worker, the processors were overloaded and some system tests exceeded their time
    // limits.
    maxWorkers: suite === 'cluster' ? 1 : 2,
    // Modules of the product have no state that affects other tests. Loading all modules again for
    // each file took a third of the time.
    isolate: false,
    // The next run reuses the compiled modules, for example the second suite of .ci/run.
    experimental: { fsModuleCache: true },
    // Files share two cores with PostgreSQL. The timeouts are long, so that only a test that hangs
    // exceeds them.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 30_000,
  },
});
