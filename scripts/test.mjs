// `npm test [-- FILES and vitest flags]`: installs the packages of the tests and runs the main suite or the
// named files. --system runs the tests of whole processes, and --long runs them with their full number of
// kills, steps and events. --cluster runs the tests of a database cluster, and --short only two failovers.
// A run of the complete main suite also fails if a declared status or error code was not produced.
// --write-examples writes the examples of errors of each operation from a complete run.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { writeOperationErrors } from './tests/operation-errors.mjs';
import { linesOf, uncoveredReplies } from './tests/reply-coverage.mjs';
import { runOptionsOf } from './tests/run-options.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const options = runOptionsOf(process.argv.slice(2));
if (options.problem) {
  console.error(options.problem);
  process.exit(2);
}
const { vitestArguments, isFullRun, suite, isLong, isShort, writesExamples } = options;

await ensureInstalled({ dev: true });
const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = path.join(root, 'server', 'vitest.config.ts');
const files = isShort ? ['server/test/cluster/failover.test.ts'] : [];
const args = ['run', '--config', config, ...files, ...vitestArguments];
const repliesFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-replies-'));
const env = {
  ...process.env,
  RAILHEAD_REPLIES: path.join(repliesFolder, 'replies'),
  ...(suite ? { RAILHEAD_TEST_SUITE: suite } : {}),
  ...(isLong ? { RAILHEAD_TEST_LENGTH: 'long' } : {}),
  ...(isShort ? { RAILHEAD_TEST_LENGTH: 'short' } : {}),
};
const child = spawn(process.execPath, [vitest, ...args], { cwd: root, stdio: 'inherit', env });
// Ctrl-C reaches both processes. Vitest ends the run and stops the database. Other signals reach
// only this process and are passed on.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', async (code, signal) => {
  const isPassed = !signal && code === 0;
  if (isPassed && isFullRun && writesExamples) writeOperationErrors(linesOf(env.RAILHEAD_REPLIES));
  const problems = isPassed && isFullRun ? await uncoveredReplies(env.RAILHEAD_REPLIES) : [];
  fs.rmSync(repliesFolder, { recursive: true, force: true });
  for (const line of problems) console.error(line);
  process.exit(isPassed && problems.length === 0 ? 0 : 1);
});
