// Processes of a cluster: started with an end that follows the end of this process, known by their ids,
// and stopped by these. Everything is found in /proc, since a cluster runs on Linux only.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRoot } from './packages.ts';

const POLL_MS = 50;
const STOP_MS = 20_000;

/** Ports that are free now. They are reserved together, so that all differ. */
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

/** Waits until `work` returns a value; throws with `name` after `timeoutMs`. */
export async function until<T>(
  name: string,
  work: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 60_000,
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const value = await work();
    if (value) return value;
    if (performance.now() - startMs > timeoutMs)
      throw new Error(`${name}: not within ${timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}

/** The user that runs databases when this process is root, which PostgreSQL refuses. */
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

/** Starts a program that gets SIGTERM when this process ends. */
export function start(command: readonly string[], options: SpawnOptions): ChildProcess {
  const { log, asPostgres = false, prefix = [], cwd = '/' } = options;
  const user = asPostgres && isRoot() ? AS_POSTGRES : [];
  const words = [...prefix, 'setpriv', '--pdeathsig', 'TERM', ...user, ...command];
  const output = fs.openSync(log, 'a');
  const child = spawn(words[0] as string, words.slice(1), {
    cwd,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    stdio: ['ignore', output, output],
    // Ctrl-C of a terminal reaches this process alone, which stops the others in order.
    detached: true,
  });
  fs.closeSync(output);
  return child;
}

export const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Sends a signal; a process that has ended is ignored. */
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

/** Stops a process: SIGTERM, and SIGKILL if it takes too long. */
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

/** The process and its descendants, parents first. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(parent));
    } catch {
      // It has just ended.
    }
  }
  const family = [pid];
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

/** The running postmaster of a data folder. */
export function postmasterOf(dataFolder: string): number | undefined {
  try {
    const [first = ''] = fs.readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n');
    const pid = Number(first);
    const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(dataFolder) && isRunning(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}
