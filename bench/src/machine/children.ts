// Starts and stops the child processes of the bench. Every process is tracked, and is stopped after
// its row, at the end, or on Ctrl-C. A server under test may be suspended (SIGSTOP) so that its
// background work takes no processor time from the peer that is being measured.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reply } from './worker-channel.ts';

export interface Child {
  readonly pid: number;
  /** The last 20,000 characters of the output, for error messages. */
  output(): string;
  /** Resolves when the process has exited. */
  readonly exit: Promise<unknown>;
  pause(): void;
  resume(): void;
  /** Terminates the process and waits. Kills it after a timeout. */
  stop(): Promise<void>;
}

export interface Worker extends Child {
  call<R>(job: string, input?: unknown): Promise<R>;
}

export interface StartOptions {
  /** File for the output. Collecting a server's log in memory would cost the bench processor time. */
  log?: string | undefined;
  /** Added to the environment of the bench. Undefined removes a variable. */
  env?: NodeJS.ProcessEnv | undefined;
  cwd?: string | undefined;
  /** Folder for a processor profile, written when the process ends. */
  profile?: string | undefined;
  /** The Node program. Defaults to the program that runs the bench. */
  node?: string | undefined;
}

const STOP_MS = 30_000;
const MAX_OUTPUT_CHARACTERS = 20_000;
const folder = path.dirname(fileURLToPath(import.meta.url));
const runningChildren = new Set<Child>();

const profileArgs = ({ profile }: StartOptions) =>
  profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];

function watch(child: ChildProcess, log?: string): Child {
  let text = '';
  const append = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS);
  };
  child.stdout?.on('data', append);
  child.stderr?.on('data', append);
  const exit = once(child, 'close').catch(() => undefined);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals) => {
    if (isRunning()) child.kill(name);
  };
  const trackedChild: Child = {
    pid: child.pid as number,
    output: () => (log ? fs.readFileSync(log, 'utf8').slice(-MAX_OUTPUT_CHARACTERS) : text),
    exit,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async stop() {
      signal('SIGCONT');
      signal('SIGTERM');
      const timer = setTimeout(() => signal('SIGKILL'), STOP_MS);
      await exit;
      clearTimeout(timer);
      runningChildren.delete(trackedChild);
    },
  };
  runningChildren.add(trackedChild);
  exit.then(() => runningChildren.delete(trackedChild));
  return trackedChild;
}

/** Starts any program. The output is stored. */
export function startProgram(
  program: string,
  args: readonly string[],
  options: StartOptions = {},
): Child {
  const output = options.log === undefined ? 'pipe' : fs.openSync(options.log, 'w');
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', output, output],
  });
  if (typeof output === 'number') fs.closeSync(output);
  if (child.pid === undefined)
    throw new Error(`${program} cannot be started. Check that it is installed.`);
  return watch(child, options.log);
}

export const startNode = (args: readonly string[], options: StartOptions = {}): Child =>
  startProgram(options.node ?? process.execPath, [...profileArgs(options), ...args], options);

/** Starts one of the bench's own processes, `dist/<name>-process.js`. */
export function startWorker(name: string, options: StartOptions = {}): Worker {
  const child = fork(path.join(folder, `${name}-process.js`), [], {
    execArgv: profileArgs(options),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  const pendingCalls = new Map<
    number,
    { resolve(value: never): void; reject(error: Error): void }
  >();
  let callCount = 0;
  const trackedChild = watch(child);
  child.on('message', ({ call, result, error }: Reply) => {
    const pendingCall = pendingCalls.get(call);
    pendingCalls.delete(call);
    if (error === undefined) pendingCall?.resolve(result as never);
    else pendingCall?.reject(new Error(`${name}: ${error}`));
  });
  trackedChild.exit.then(() => {
    const reason = new Error(`${name} ended: ${trackedChild.output()}`);
    for (const pendingCall of pendingCalls.values()) pendingCall.reject(reason);
  });
  return {
    ...trackedChild,
    call: <R>(job: string, input?: unknown) =>
      new Promise<R>((resolve, reject) => {
        callCount++;
        pendingCalls.set(callCount, { resolve: resolve as (value: never) => void, reject });
        child.send({ call: callCount, job, input });
      }),
  };
}

/** Stops all processes that are still running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...runningChildren].map((child) => child.stop()));
}
