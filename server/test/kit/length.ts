// Length of the long suites. They are short in `npm test`, `npm run test:system` and .ci/run, and
// complete in `npm run test:long`.
import { runSeed } from './app/effects.ts';

/** Set by `scripts/test.mjs --long`. */
const isLong = process.env.RAILHEAD_TEST_LENGTH === 'long';

/** A number of repetitions, steps or rows. */
export const lengthOf = (shortValue: number, longValue: number): number =>
  isLong ? longValue : shortValue;

/**
 * The variants, such as window sizes, of the test case with this number. A long run uses all of
 * them. A short run uses one, which alternates between cases and runs.
 */
export const variantsOf = <T>(variants: readonly T[], number: number): T[] =>
  variants.filter((_, index) => isLong || index === (number + Number(runSeed())) % variants.length);
