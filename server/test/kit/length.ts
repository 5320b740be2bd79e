// How long the long suites run: short in `npm test`, `npm run test:system` and .ci/run, complete in
// `npm run test:long`.
import { runSeed } from './app/effects.ts';

/** Set by `scripts/test.mjs --long`. */
const isLong = process.env.RAILHEAD_TEST_LENGTH === 'long';

/** A number of repetitions, steps or rows. */
export const lengthOf = (short: number, long: number): number => (isLong ? long : short);

/**
 * The variants, such as window sizes, that the case of this number runs in: in a short run one, which
 * cases and runs take in turn.
 */
export const variantsOf = <T>(all: readonly T[], number: number): T[] =>
  all.filter((_, index) => isLong || index === (number + Number(runSeed())) % all.length);
