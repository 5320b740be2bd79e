// A real PostgreSQL inside the data folder, started and stopped with this process, so that a laptop
// needs only Node. It listens on a unix socket only (Windows: see embedded-windows.ts), runs as an
// unprivileged user if this process is root, and is monitored by a shell that shuts it down when
// this process ends for any reason, including `kill -9`. Commits are always flushed. Only tests may
// trade that for speed.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { canEnter, type RunAs, unavailable } from './embedded-binaries.ts';
import {
  type ClusterLocation,
  cleanEnv,
  clusterOf,
  DATABASE_USER,
  dataPath,
  prepareCluster,
} from './embedded-cluster.ts';
import { type Running, runningIn, waitWhile } from './embedded-pid.ts';
import { startOnWindows } from './embedded-windows.ts';

interface EmbeddedOptions {
  /** The data folder. The cluster is its subfolder `postgres`. */
  dir: string;
  /** Receives the lines that PostgreSQL logs. */
  log?: (line: string) => void;
  /** False trades safety against crashes and power failure for speed. Tests only. */
  durable?: boolean;
  /** Maximum connections if more than the usual 100 are needed. */
  maxConnections?: number;
  /** Required on Windows only, for the password of its loopback port. */
  random?: (bytes: number) => Uint8Array;
}

export interface Embedded {
  /** A connection string for pg and psql. */
  url: string;
  /** The process id of PostgreSQL. */
  pid: number;
  /** Ends connections and shuts down cleanly. May be called twice. */
  stop(): Promise<void>;
  /** Resolves with a reason if PostgreSQL exited without `stop`. */
  exited: Promise<string>;
}

/** The only database. Initdb creates it. */
const DATABASE = 'postgres';
const PORT = 5432;
/** Maximum bytes of a unix socket's path: 104 on macOS, 108 on Linux, with the final NUL. */
const MAX_SOCKET_PATH = 103;
/** Timeout of a clean shutdown. After it the next start recovers from the write-ahead log. */
const STOP_MS = 20_000;
/**
 * Maximum wait for a cluster that another process serves: an operator command completes within this
 * time.
 */
const BUSY_MS = 2_000;
/** Maximum wait for a cluster that is starting or shutting down. */
const CHANGE_MS = 60_000;
/** Between two starts while children of a killed PostgreSQL still run. */
const ORPHANS_MS = 200;

const FLAGS = {
  // Settings for a laptop. Input and output workers and the replication launcher are processes without
  // work here.
  shared_buffers: '128MB',
  max_connections: '100',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  // Fewer checkpoints, so fewer full pages in the log. wal_compression remains off: this build has
  // pglz only, which cost 3 % of the throughput.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // A second attempt resolves deadlocks. It should not wait a whole second to detect one.
  deadlock_timeout: '200ms',
  timezone: 'UTC',
  cluster_name: 'railhead',
  // Errors go to the client that caused them. In the log their text could contain personal data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '',
};
// On the command line these override postgresql.conf and ALTER SYSTEM.
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
// On macOS a plain fsync leaves the data in the disk's own cache.
const DURABLE_MAC = { ...DURABLE, wal_sync_method: 'fsync_writethrough' };
const FAST = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  // There is no standby, and the log is kept in memory.
  ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '256MB' },
};

// "$@" is PostgreSQL. The reader reaches the end of its input when this process exits. INT is
// PostgreSQL's fast shutdown, repeated because a shell starts background programs with INT ignored
// until they set a handler. When PostgreSQL ends first, the shell ends too and passes on its exit
// code.
export const GUARD = `exec 3<&0 </dev/null
"$@" 3<&- & pg=$!
(while read -r _; do :; done; while kill -INT $pg; do sleep 1; done) <&3 2>/dev/null & reader=$!
exec 3<&-
wait $pg; code=$?
kill $reader 2>/dev/null
exit $code`;

function flagsFor(durable: boolean, connections: number): string[] {
  const safe = process.platform === 'darwin' ? DURABLE_MAC : DURABLE;
  const max = String(Math.max(connections, Number(FLAGS.max_connections)));
  const settings = { ...FLAGS, max_connections: max, ...(durable ? safe : FAST) };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

// The socket cannot be in the data folder, whose path may be longer than a socket's may be. Trust
// authentication is enough on it: the folder is 0700, so only its owner and root can connect, and
// both can read the files of the cluster.
function socketFolder(cluster: string, user: RunAs | undefined): string {
  const name = `railhead-${createHash('sha256').update(cluster).digest('hex').slice(0, 12)}`;
  const uid = process.getuid?.();
  for (const base of [os.tmpdir(), '/tmp', '/var/tmp']) {
    const folder = path.join(base, name);
    // mkdtemp below adds a dash and six letters.
    if (Buffer.byteLength(`${folder}-XXXXXX/.s.PGSQL.${PORT}`) > MAX_SOCKET_PATH) continue;
    if (!fs.existsSync(base) || !canEnter(base, user)) continue;
    try {
      fs.mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') continue;
    }
    const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
    const owned = stat !== undefined && [uid, user?.uid].includes(stat.uid);
    // Another user may have created a folder of this name. Then a random name is used.
    const isUsable = owned && stat.isDirectory() && (stat.mode & 0o077) === 0;
    const selected = isUsable ? folder : fs.mkdtempSync(`${folder}-`);
    if (user) fs.chownSync(selected, user.uid, user.gid);
    return selected;
  }
  throw unavailable('No temporary folder is suitable for the socket of the embedded PostgreSQL.');
}

const urlOf = ({ port, socketFolder: folder, password }: Running) =>
  folder
    ? `postgresql://${DATABASE_USER}@localhost:${port}/${DATABASE}?host=${encodeURIComponent(folder)}`
    : `postgresql://${DATABASE_USER}:${password}@127.0.0.1:${port}/${DATABASE}`;

const inUse = (dir: string, pid?: number) =>
  unavailable(
    `The data folder ${dir} is already served by a running PostgreSQL${pid ? ` (process ${pid})` : ''}.`,
  );

/** Waits until no process serves the cluster. */
async function waitUntilFree(dir: string, cluster: string): Promise<void> {
  let remaining = await waitWhile(cluster, ({ status }) => status !== 'stopping', BUSY_MS);
  if (remaining?.status === 'stopping') remaining = await waitWhile(cluster, () => true, CHANGE_MS);
  if (remaining) throw inUse(dir, remaining.pid);
}

function startGuard({ binaries, cluster, user }: ClusterLocation, flags: string[]): ChildProcess {
  const program = path.join(binaries, 'bin', 'postgres');
  const args = ['-D', dataPath(cluster, user), '-k', socketFolder(cluster, user), '-p', `${PORT}`];
  args.push('-c', 'listen_addresses=', '-c', 'unix_socket_permissions=0700', ...flags);
  return spawn('/bin/sh', ['-c', GUARD, 'railhead-postgres', program, ...args], {
    ...user,
    env: cleanEnv(),
    cwd: cluster,
    stdio: ['pipe', 'ignore', 'pipe'],
    // A separate process group: Ctrl-C in a terminal reaches this process only, which stops
    // PostgreSQL when the work is done.
    detached: true,
  });
}

/**
 * Resolves with true when PostgreSQL accepts connections, and with false if it exited because
 * children of its killed predecessor still run. Rejects with its last log line.
 */
function waitUntilReady(
  dir: string,
  guard: ChildProcess,
  log: (line: string) => void,
): Promise<boolean> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => {
      const fatal =
        lines.find((line) => line.startsWith('FATAL')) ?? lines.at(-1) ?? `exit ${code}`;
      if (/pre-existing shared memory block .* still in use/.test(fatal)) return resolve(false);
      const isInUse = /lock file "postmaster.pid" already exists/.test(fatal);
      const reason = fatal.replace(/^FATAL:\s+/, '');
      reject(isInUse ? inUse(dir) : unavailable(`PostgreSQL does not start: ${reason}`));
    };
    guard.once('error', (error) =>
      reject(unavailable(`PostgreSQL cannot be executed: ${error.message}`)),
    );
    guard.once('close', fail);
    createInterface({ input: guard.stderr! }).on('line', (line) => {
      log(line);
      if (lines.length < 50) lines.push(line);
      if (!/ready to accept (read-only )?connections/.test(line)) return;
      guard.off('close', fail);
      resolve(true);
    });
  });
}

/**
 * Starts PostgreSQL and waits until it accepts connections. After a kill of the postmaster alone its
 * children exit at their next wait, at the latest when their query is complete.
 */
async function startServer(
  location: ClusterLocation,
  options: EmbeddedOptions,
): Promise<ChildProcess> {
  const { durable = true, log = () => undefined, maxConnections = 0 } = options;
  const start = process.platform === 'win32' ? startOnWindows : startGuard;
  for (let waited = 0; waited < CHANGE_MS; waited += ORPHANS_MS) {
    const guard = await start(location, flagsFor(durable, maxConnections));
    if (await waitUntilReady(options.dir, guard, log)) return guard;
    await sleep(ORPHANS_MS);
  }
  throw unavailable(
    `PostgreSQL does not start: queries of its killed predecessor in ${options.dir} are still running.`,
  );
}

/** The handle of the running PostgreSQL for its starter. */
function handleOf(guard: ChildProcess, running: Running, durable: boolean): Embedded {
  const exitCode = new Promise<number | null>((resolve) => guard.once('close', resolve));
  // If the caller exits without stopping PostgreSQL, the guard process stops it.
  guard.unref();
  for (const stream of [guard.stdin, guard.stderr]) (stream as { unref?(): void })?.unref?.();
  const end = async () => {
    guard.ref();
    guard.stdin?.end();
    const result = await Promise.race([exitCode, sleep(STOP_MS, 'late', { ref: false })]);
    if (result === 'late') process.kill(running.pid, 'SIGQUIT');
    await exitCode;
    // A durable cluster keeps its folder, because the next process may already be about to use it.
    if (!durable && running.socketFolder) fs.rmSync(running.socketFolder, { recursive: true });
  };
  let stopping: Promise<void> | undefined;
  return {
    url: urlOf(running),
    pid: running.pid,
    exited: new Promise((resolve) => {
      exitCode.then((code) => stopping ?? resolve(`PostgreSQL exited unexpectedly (${code}).`));
    }),
    stop() {
      stopping ??= end();
      return stopping;
    },
  };
}

function plainError(dir: string, error: unknown): unknown {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'DatabaseUnavailable') return error;
  const isDenied = code === 'EACCES' || code === 'EPERM';
  const problem = isDenied
    ? `The data folder ${dir} cannot be used by this user`
    : 'The embedded PostgreSQL cannot be started';
  return unavailable(`${problem}: ${message}`, error);
}

/**
 * Starts PostgreSQL on `dir`, creating the cluster the first time (0.6 s; later under 0.1 s).
 * Throws an error named DatabaseUnavailable whose message is one plain line: no build for this
 * platform, folder in use or of another user, or PostgreSQL's own reason.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { durable = true, random } = options;
  const dir = path.resolve(options.dir);
  try {
    const location = prepareCluster({ dir, durable, random });
    await waitUntilFree(dir, location.cluster);
    const guard = await startServer(location, { ...options, dir });
    const running = runningIn(location.cluster);
    if (!running) throw unavailable('PostgreSQL exited immediately after its start.');
    return handleOf(guard, running, durable);
  } catch (error) {
    throw plainError(dir, error);
  }
}

/** The connection string of the PostgreSQL that another process runs on `dir`, if any. */
export async function attachEmbedded(dir: string): Promise<string | undefined> {
  try {
    const running = await waitWhile(clusterOf(dir), ({ status }) => status !== 'ready', CHANGE_MS);
    return running && urlOf(running);
  } catch (error) {
    throw plainError(dir, error);
  }
}

/**
 * Runs `work` on the PostgreSQL of `dir`: the server of another process, or one started for this call.
 */
export async function withEmbedded<T>(
  options: EmbeddedOptions,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const url = await attachEmbedded(options.dir);
  if (url !== undefined) return work(url);
  const started = await startEmbedded(options);
  try {
    return await work(started.url);
  } finally {
    await started.stop();
  }
}
