// Once before the tests of a cluster: the packages are installed, or the run ends with what is missing.
// The short form is skipped instead, because it also runs where nothing can be installed.
import { ensurePackages } from './packages.ts';

export function setup(): void {
  const problem = ensurePackages(console.info);
  if (!problem) return;
  if (process.env.RAILHEAD_TEST_LENGTH !== 'short') throw new Error(problem);
  console.info(`The tests of a cluster are skipped. ${problem}`);
}
