// Builds the console while a server runs, in a separate process at a low priority.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { isBuilt, LOG, report } from './state.mjs';

const RUN = fileURLToPath(new URL('run.mjs', import.meta.url));

/** Starts a build unless the console is up to date. The build ends with this process. */
export function buildConsole() {
  if (isBuilt()) return;
  const log = fs.openSync(LOG, 'w');
  const child = spawn(process.execPath, [RUN, 'build'], { stdio: ['ignore', log, log] });
  fs.closeSync(log);
  child.on('error', () => undefined);
  if (child.pid !== undefined) report('Preparing the console …', { pid: child.pid });
  if (child.pid !== undefined) os.setPriority(child.pid, os.constants.priority.PRIORITY_LOW);
  child.unref();
  const end = () => child.kill();
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
}
