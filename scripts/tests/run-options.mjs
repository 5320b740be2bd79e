// The flags of `npm test`, separated from the arguments of vitest.

const FLAGS = ['--system', '--long', '--cluster', '--short', '--write-examples'];
/** Flags that select another suite or a part of a suite. */
const PARTIAL_FLAGS = ['--system', '--cluster', '--short'];

const PARTIAL_EXAMPLES =
  'The examples need a complete run of the main suite. Run `npm test -- --write-examples` without ' +
  'files and without --system, --cluster or --short.';

/**
 * Options of a run. `problem` is the reason for which the command line is invalid. `writesExamples` requires
 * a complete run, because the examples are chosen from the replies of all tests.
 */
export function runOptionsOf(argv) {
  const has = (flag) => argv.includes(flag);
  const vitestArguments = argv.filter((argument) => !FLAGS.includes(argument));
  const isFullRun = vitestArguments.length === 0 && !PARTIAL_FLAGS.some(has);
  // A shard runs a part of the suite. The replies of all shards together are not collected.
  const isWholeSuite = vitestArguments.every((argument) => argument.startsWith('--shard='));
  const namedSuite = has('--system') ? 'system' : has('--cluster') ? 'cluster' : undefined;
  const writesExamples = has('--write-examples');
  return {
    vitestArguments,
    isFullRun,
    suite: namedSuite ?? (isWholeSuite ? 'main' : undefined),
    isLong: has('--long'),
    isShort: has('--short'),
    writesExamples,
    problem: writesExamples && !isFullRun ? PARTIAL_EXAMPLES : undefined,
  };
}
