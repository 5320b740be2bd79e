// A server process for tests that kill it, on a separate data folder. All its processes are
// recorded by ID and start time. Only recorded processes are killed, and remaining processes are
// reported.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import { attachEmbedded } from '../../../src/runtime/postgres/embedded.ts';
import { clusterOf } from '../../../src/runtime/postgres/embedded-cluster.ts';
import { runningIn } from '../../../src/runtime/postgres/embedded-pid.ts';
import { scratchFolder } from '../app/scratch.ts';

const START_SCRIPT = path.join(projectRoot(), 'scripts', 'start.mjs');
/** The first start may build the server while another test uses both cores. */
const START_MS = 60_000;
const EXIT_MS = 15_000;
const POLL_MS = 10;

interface Process {
  pid: number;
  parent: number;
  /** Distinguishes a process from a later one with the same ID. */
  startTime: string;
}

export interface Credentials {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  webhookPublicKey: string;
  docsUrl: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly credentials: Credentials;
  /** `http://host:port`. */
  readonly origin: string;
}

interface ExitResult {
  code: number | null;
  signal: string | null;
  out: string;
  err: string;
}

/** A data folder and its processes. */
export interface DataFolder {
  readonly dir: string;
  /** Starts a process without waiting, on any free port unless the flags contain one. */
  launch(
    flags?: readonly string[],
    env?: Record<string, string>,
    program?: readonly string[],
  ): ChildProcess;
  /** Resolves when the server is ready. Rejects with the output of the process if it exits first. */
  waitUntilReady(child: ChildProcess): Promise<Running>;
  start(flags?: readonly string[], env?: Record<string, string>): Promise<Running>;
  /** Output of a process since its start. */
  outputOf(child: ChildProcess): { out: string; err: string };
  waitForExit(child: ChildProcess): Promise<ExitResult>;
  /** `kill -9` of Node alone, or of Node and every process of PostgreSQL together. */
  kill(child: ChildProcess, target: 'node' | 'both'): Promise<void>;
  /** A connection string of the database, for queries. */
  database(): Promise<string>;
  /** Waits for the exit of all processes of this folder's servers. Returns remaining processes. */
  remainingProcesses(): Promise<Process[]>;
  /** Stops the processes of the servers by their IDs, and removes all folders. */
  remove(): Promise<void>;
}

/** `ps` can be absent on Linux. Other systems have no `/proc`. */
function listProcesses(): Process[] {
  if (process.platform !== 'linux') {
    const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state=,lstart='], {
      encoding: 'utf8',
    });
    return text.split('\n').flatMap((line) => {
      const [pid, parent, state = '', ...startFields] = line.trim().split(/\s+/);
      if (!pid || state.startsWith('Z')) return [];
      return [{ pid: Number(pid), parent: Number(parent), startTime: startFields.join(' ') }];
    });
  }
  return fs.readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const [state, parent] = fields;
      // A zombie that its parent has not reaped.
      if (state === 'Z' || state === 'X') return [];
      return [{ pid: Number(name), parent: Number(parent), startTime: fields[19] ?? '' }];
    } catch {
      return []; // The process has just exited.
    }
  });
}

/** The process and its descendants. */
function familyOf(pid: number, processList = listProcesses()): Process[] {
  const family = processList.filter((candidate) => candidate.pid === pid);
  for (const member of family)
    family.push(...processList.filter((candidate) => candidate.parent === member.pid));
  return family;
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const NO_OUTPUT = { out: '', err: '' };

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function collectOutput(child: ChildProcess): { out: string; err: string } {
  const output = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    output.out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output.err += chunk.toString();
  });
  return output;
}

/** The environment of a new user's shell. */
const plainEnv = () =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TMPDIR'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** A new data folder without processes. `folder` is on disk if durability is tested. */
export function createDataFolder(name: string, folder = scratchFolder()): DataFolder {
  const base = fs.mkdtempSync(path.join(folder, `railhead-${name}-`));
  const dir = path.join(base, 'data');
  const cluster = clusterOf(dir);
  const output = new Map<ChildProcess, { out: string; err: string }>();
  const knownProcesses = new Map<string, Process>();
  const sockets = new Set<string>();
  const outputOf = (child: ChildProcess) => output.get(child) ?? NO_OUTPUT;

  /** Records the current processes, so that none is missed later. */
  function recordProcesses(child: ChildProcess): Process[] {
    const family = child.pid ? familyOf(child.pid) : [];
    for (const member of family) knownProcesses.set(`${member.pid} ${member.startTime}`, member);
    const folder = runningIn(cluster)?.socketFolder;
    if (folder) sockets.add(folder);
    return family;
  }

  /** Recorded processes that are running. */
  function remainingProcesses(): Process[] {
    return listProcesses().filter((candidate) =>
      knownProcesses.has(`${candidate.pid} ${candidate.startTime}`),
    );
  }

  async function waitUntilAllEnd(): Promise<Process[]> {
    for (
      let waitedMs = 0;
      waitedMs < EXIT_MS && remainingProcesses().length > 0;
      waitedMs += POLL_MS
    ) {
      await sleep(POLL_MS);
    }
    return remainingProcesses();
  }

  function launch(
    flags: readonly string[] = [],
    env: Record<string, string> = {},
    program: readonly string[] = [START_SCRIPT],
  ): ChildProcess {
    const port = flags.includes('--port') ? [] : ['--port', '0'];
    const args = ['--data-dir', dir, ...port, ...flags];
    const child = spawn(process.execPath, [...program, ...args], {
      cwd: base,
      env: { ...plainEnv(), RAILHEAD_SAMPLE_CUSTOMER: 'none', RAILHEAD_CONSOLE: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    output.set(child, collectOutput(child));
    return child;
  }

  async function waitUntilReady(child: ChildProcess): Promise<Running> {
    const output = outputOf(child);
    for (let waitedMs = 0; !output.err.includes('Try it:'); waitedMs += POLL_MS) {
      if (hasEnded(child)) throw new Error(`the server exited: ${output.err}${output.out}`);
      if (waitedMs > START_MS) throw new Error(`the server does not start: ${output.err}`);
      await sleep(POLL_MS);
    }
    recordProcesses(child);
    const text = fs.readFileSync(path.join(dir, 'credentials.json'), 'utf8');
    const credentials = JSON.parse(text) as Credentials;
    return { child, credentials, origin: new URL(credentials.baseUrl).origin };
  }

  async function waitForExit(child: ChildProcess): Promise<ExitResult> {
    if (!hasEnded(child)) await once(child, 'close');
    return { code: child.exitCode, signal: child.signalCode, ...outputOf(child) };
  }

  async function kill(child: ChildProcess, target: 'node' | 'both'): Promise<void> {
    const family = recordProcesses(child);
    const postmaster = runningIn(cluster)?.pid;
    const whenExited = waitForExit(child);
    // PostgreSQL is killed first, because its guard starts an orderly shutdown when Node exits.
    if (target === 'both' && postmaster !== undefined) {
      killProcess(postmaster);
      for (const member of family) if (member.parent === postmaster) killProcess(member.pid);
    }
    if (child.pid) killProcess(child.pid);
    await whenExited;
  }

  return {
    dir,
    launch,
    waitUntilReady,
    start: (flags, env) => waitUntilReady(launch(flags, env)),
    outputOf: outputOf,
    waitForExit,
    kill,
    async database() {
      const url = await attachEmbedded(dir);
      if (url === undefined) throw new Error('no database is running');
      return url;
    },
    remainingProcesses: waitUntilAllEnd,
    async remove() {
      for (const child of output.keys()) if (!hasEnded(child)) recordProcesses(child);
      for (const member of remainingProcesses()) killProcess(member.pid);
      await waitUntilAllEnd();
      for (const folder of [...sockets, base]) fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
