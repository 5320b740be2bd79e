// Installs missing packages before the cluster tests, or fails with their names. The setup also
// fails without the privileges that the tests need, because skipped tests would look like success.
import { ensurePackages, isRoot } from './packages.ts';

export function setup(): void {
  const problem = ensurePackages(console.info);
  if (problem) throw new Error(problem);
  if (process.env.RAILHEAD_TEST_LENGTH !== 'short' && !isRoot()) {
    throw new Error(
      'Run the cluster tests as root, because they use network namespaces, a mounted file system ' +
        'and the user postgres. Tests with --short do not need root.',
    );
  }
}
