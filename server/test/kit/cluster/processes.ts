// Processes of a cluster. The processes are stopped by their IDs, and by the kernel when this
// process exits. Their state is read from /proc, because a cluster runs on Linux only.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRoot } from './packages.ts';

const POLL_MS = 50;
const STOP_MS = 20_000;

/** Returns different free ports. All are bound at the same time, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as net.AddressInfo).port);
  await Promise.all(
    servers.map((server) => {
      server.close();
      return once(server, 'close');
    }),
  );
  return ports;
}

/** Returns the first truthy result of `work`. Throws with `name` after `timeoutMs`. */
export async function waitUntil<T>(
  name: string,
  work: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const value = await work();
    if (value) return value;
    if (performance.now() - startMs > timeoutMs)
      throw new Error(`timeout of ${timeoutMs} ms while waiting for ${name}`);
    await sleep(POLL_MS);
  }
}

/** Options of setpriv for the user `postgres`, because PostgreSQL does not start as root. */
const AS_POSTGRES = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];

interface SpawnOptions {
  /** Receives standard output and standard error. */
  log: string;
  /** Runs as the user of PostgreSQL if this process is root. */
  asPostgres?: boolean;
  /** Arguments before the program, such as those that enter a network namespace. */
  prefix?: readonly string[];
  cwd?: string;
}

/** Starts a program that receives SIGTERM when this process exits. */
export function start(command: readonly string[], options: SpawnOptions): ChildProcess {
  const { log, asPostgres = false, prefix = [], cwd = '/' } = options;
  const user = asPostgres && isRoot() ? AS_POSTGRES : [];
  const argv = [...prefix, 'setpriv', '--pdeathsig', 'TERM', ...user, ...command];
  const output = fs.openSync(log, 'a');
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', output, output],
    // A separate process group does not receive Ctrl-C. This process stops all others in order.
    detached: true,
  });
  fs.closeSync(output);
  return child;
}

export const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Sends a signal. Processes that have exited are ignored. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const isRunning = (pid: number) => {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
};

/** Sends a signal to a process, and SIGKILL if it has not exited after 20 s. */
export async function stop(
  pid: number | undefined,
  name: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  if (pid === undefined || !isRunning(pid)) return;
  signal(pid, 'SIGCONT');
  signal(pid, name);
  for (let waitedMs = 0; waitedMs < STOP_MS && isRunning(pid); waitedMs += POLL_MS)
    await sleep(POLL_MS);
  if (!isRunning(pid)) return;
  signal(pid, 'SIGKILL');
  for (let waitedMs = 0; waitedMs < STOP_MS && isRunning(pid); waitedMs += POLL_MS)
    await sleep(POLL_MS);
}

/** Returns the process and its descendants, parents first. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(parent));
    } catch {
      // The process has exited.
    }
  }
  const family = [pid];
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

/** Returns the process ID of the PostgreSQL that uses a data folder, or undefined if none runs. */
export function postmasterOf(dataFolder: string): number | undefined {
  try {
    const [firstLine = ''] = fs.readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n');
    const pid = Number(firstLine);
    const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(dataFolder) && isRunning(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
