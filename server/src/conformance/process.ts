// The process of the adapter, if the session starts it. Checks kill it with SIGKILL and start it
// again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Calls } from './calls.ts';

const POLL_MS = 50;
const START_ATTEMPTS = 300;

interface AdapterProcess {
  /** Resolves when the adapter responds. */
  start(): Promise<void>;
  kill(): Promise<void>;
}

const responds = ({ call }: Calls) =>
  call('/capabilities', {}).then(
    () => true,
    () => false,
  );

export function adapterProcess(command: readonly string[], calls: Calls): AdapterProcess {
  const [program = '', ...args] = command;
  let child: ChildProcess | undefined;
  const hasEnded = () => child?.exitCode !== null || child.signalCode !== null;
  const killGroup = () => {
    // The command can be a shell or npm, whose child processes are in the same group.
    if (child?.pid !== undefined && !hasEnded()) process.kill(-child.pid, 'SIGKILL');
  };
  process.on('exit', killGroup);
  return {
    async start() {
      if (await responds(calls)) {
        throw new Error('Another process responds at the address of --url. Stop it first.');
      }
      // Standard output is reserved for the report.
      child = spawn(program, args, { stdio: ['ignore', 'ignore', 2], detached: true });
      const startFailure = once(child, 'error').then(([error]) => Promise.reject(error));
      startFailure.catch(() => undefined);
      for (let attempt = 0; attempt < START_ATTEMPTS && !hasEnded(); attempt++) {
        await Promise.race([sleep(POLL_MS), startFailure]);
        if (await responds(calls)) return;
      }
      throw new Error(`The command ${command.join(' ')} does not respond at the address of --url.`);
    },
    async kill() {
      if (!child || hasEnded()) return;
      const exitEvent = once(child, 'exit');
      killGroup();
      await exitEvent;
    },
  };
}
