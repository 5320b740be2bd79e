// Once before the tests of a cluster: the packages are installed, or the run ends with what is missing.
import { ensurePackages } from './packages.ts';

export function setup(): void {
  const problem = ensurePackages(console.info);
  if (problem) throw new Error(problem);
}
