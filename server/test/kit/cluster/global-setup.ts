// Runs once before the cluster tests: installs missing packages, or fails with their names.
import { ensurePackages } from './packages.ts';

export function setup(): void {
  const problem = ensurePackages(console.info);
  if (problem) throw new Error(problem);
}
