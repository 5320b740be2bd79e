// A server process of the supervisor, started by node:cluster, so that all processes share a port.
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import path from 'node:path';
import { projectRoot } from '../runtime/config/root.ts';
import type { Serving } from '../startup.ts';
import { type FromProcess, type FromSupervisor, PROCESS_ENV, type ProcessEnv } from './link.ts';

export interface ServerProcess {
  number: number;
  pid: number | undefined;
  /** Resolves when requests are served. Rejects if the process exits first. */
  serving: Promise<Serving>;
  /** Resolves when the start is complete. Rejects if the process exits first. */
  ready: Promise<void>;
  /** Resolves with the reason when the process has exited. */
  exit: Promise<string>;
  isRunning(): boolean;
  send(message: FromSupervisor): void;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Sets the program of all processes, with the arguments `argv` and the Node.js flags of this
 * process.
 */
export function prepareProcesses(argv: readonly string[]): void {
  const exec = path.join(projectRoot(), 'scripts', 'start.mjs');
  cluster.setupPrimary({ exec, args: [...argv], execArgv: [...process.execArgv] });
}

/** Rejects if the process exits first. The rejection may remain unobserved. */
function waitForMessage<T>(
  worker: Worker,
  exit: Promise<string>,
  select: (message: FromProcess) => T | undefined,
) {
  const promise = new Promise<T>((resolve, reject) => {
    worker.on('message', (message: FromProcess) => {
      const value = select(message);
      if (value !== undefined) resolve(value);
    });
    void exit.then((reason) =>
      reject(
        new Error(`A server process did not start (${reason}). Correct the error in its log.`),
      ),
    );
  });
  promise.catch(() => undefined);
  return promise;
}

/** Starts a process. `onMessage` receives its messages. */
export function startProcess(
  processEnv: ProcessEnv,
  onMessage: (serverProcess: ServerProcess, message: FromProcess) => void,
): ServerProcess {
  const worker = cluster.fork({ [PROCESS_ENV]: JSON.stringify(processEnv) });
  let isRunning = true;
  const exit = once(worker, 'exit').then(([code, signal]) => {
    isRunning = false;
    return signal ? `signal ${signal}` : `exit code ${code}`;
  });
  const serverProcess: ServerProcess = {
    number: processEnv.number,
    pid: worker.process.pid,
    serving: waitForMessage(worker, exit, (each) =>
      each.type === 'serving' ? each.serving : undefined,
    ),
    ready: waitForMessage(worker, exit, (each) => each.type === 'ready' || undefined).then(
      () => {},
    ),
    exit: exit,
    isRunning: () => isRunning,
    send(message) {
      if (isRunning && worker.isConnected()) worker.send(message, () => undefined);
    },
    kill(signal) {
      if (isRunning) worker.process.kill(signal);
    },
  };
  serverProcess.ready.catch(() => undefined);
  // The channel closes with its process, whose exit is handled above.
  worker.on('error', () => undefined);
  worker.on('message', (message: FromProcess) => onMessage(serverProcess, message));
  return serverProcess;
}
