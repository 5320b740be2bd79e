// Runs the operator's command on a database of the bench.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Bench } from './bench.ts';

/**
 * Runs a subcommand with environment variables that select the database. Returns its JSON output.
 */
export async function runCommand<R>(
  { root }: Pick<Bench, 'root'>,
  env: NodeJS.ProcessEnv,
  verb: readonly string[],
): Promise<R> {
  const args = ['run', '--silent', 'railhead', '--', ...verb, '--json'];
  const options = { cwd: root, env: { ...process.env, ...env } };
  const { stdout } = await promisify(execFile)('npm', args, options);
  return JSON.parse(stdout) as R;
}
