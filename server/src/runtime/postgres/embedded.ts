// A real PostgreSQL inside the data folder, started and stopped with this process, so that a laptop
// needs only Node. Except on Windows, PostgreSQL listens on a Unix socket only, and runs as an
// unprivileged user if this process is root. A guard process shuts it down when this process ends
// for any reason, including `kill -9`. Only tests may disable the flush of commits for speed.
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
import { type RunningPostgres, runningIn, waitWhile } from './embedded-pid.ts';
import { startOnWindows } from './embedded-windows.ts';

interface EmbeddedOptions {
  /** The data folder. The cluster is its subfolder `postgres`. */
  dir: string;
  /** Receives the lines that PostgreSQL logs. */
  log?: (line: string) => void;
  /** False disables the flush of commits for speed, so a crash can lose data. Tests only. */
  durable?: boolean;
  /** Maximum number of connections. Defaults to 100, which is also the minimum. */
  maxConnections?: number;
  /** Required on Windows only, for the password of its loopback port. */
  random?: (bytes: number) => Uint8Array;
}

export interface Embedded {
  /** A connection string for pg and psql. */
  url: string;
  /** The process ID of PostgreSQL. */
  pid: number;
  /** Ends connections and shuts down cleanly. May be called repeatedly. */
  stop(): Promise<void>;
  /** Resolves with a reason if PostgreSQL exited without `stop`. */
  exited: Promise<string>;
}

/** The only database, which initdb creates. */
const DATABASE = 'postgres';
const PORT = 5432;
/** Maximum bytes of the path of a Unix socket: 104 on macOS, 108 on Linux, including the final NUL. */
const MAX_SOCKET_PATH = 103;
/** Timeout of a clean shutdown. After the timeout, the next start recovers from the write-ahead log. */
const STOP_MS = 20_000;
/**
 * Maximum wait for a cluster that another process serves, for example during a short operator
 * command.
 */
const BUSY_MS = 2_000;
/** Maximum wait for a cluster that is starting or shutting down. */
const CHANGE_MS = 60_000;
/** Time between two starts while children of a killed PostgreSQL still run. */
const ORPHANS_MS = 200;

const FLAGS = {
  // Settings for a laptop. Input and output workers and the replication launcher would have no work.
  shared_buffers: '128MB',
  max_connections: '100',
  io_method: 'sync',
  max_logical_replication_workers: '0',
  // Fewer checkpoints, and therefore fewer full pages in the write-ahead log. wal_compression remains
  // off, because the pglz of this build costs 3 % of the throughput.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  // A deadlock is detected before the default of one second, because a second attempt resolves it.
  deadlock_timeout: '200ms',
  timezone: 'UTC',
  cluster_name: 'railhead',
  // Errors are sent to the client that caused them. The text of an error in the log could contain personal
  // data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_line_prefix: '',
};
// Settings on the command line override postgresql.conf and ALTER SYSTEM.
const DURABLE_FLAGS = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
// On macOS, a plain fsync writes the data only to the cache of the disk.
const DURABLE_MAC_FLAGS = { ...DURABLE_FLAGS, wal_sync_method: 'fsync_writethrough' };
const FAST_FLAGS = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  // There is no standby, and the small log remains in the cache of the operating system.
  ...{ wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '256MB' },
};

// "$@" is PostgreSQL. The reader reaches the end of its input when this process exits. The reader then
// repeats INT, the fast shutdown of PostgreSQL, because a shell starts background programs with INT ignored
// until they set a handler. If PostgreSQL ends first, the shell ends with its exit code.
export const GUARD = `exec 3<&0 </dev/null
"$@" 3<&- & pg=$!
(while read -r _; do :; done; while kill -INT $pg; do sleep 1; done) <&3 2>/dev/null & reader=$!
exec 3<&-
wait $pg; code=$?
kill $reader 2>/dev/null
exit $code`;

function flagsFor(durable: boolean, connections: number): string[] {
  const durableFlags = process.platform === 'darwin' ? DURABLE_MAC_FLAGS : DURABLE_FLAGS;
  const max = String(Math.max(connections, Number(FLAGS.max_connections)));
  const settings = { ...FLAGS, max_connections: max, ...(durable ? durableFlags : FAST_FLAGS) };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

// The socket is outside the data folder, whose path may exceed the maximum length of a socket path.
// Unless this process is root, trust authentication is sufficient, because the folder is 0700. Only
// its owner and root can connect, and both can read the files of the cluster.
function createSocketFolder(cluster: string, user: RunAs | undefined): string {
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
    const isOwned = stat !== undefined && [uid, user?.uid].includes(stat.uid);
    // If another user has created a folder of this name, a random name is used.
    const isUsable = isOwned && stat.isDirectory() && (stat.mode & 0o077) === 0;
    const selectedFolder = isUsable ? folder : fs.mkdtempSync(`${folder}-`);
    if (user) fs.chownSync(selectedFolder, user.uid, user.gid);
    return selectedFolder;
  }
  throw unavailable(
    'No temporary folder is suitable for the socket of the embedded PostgreSQL. Set TMPDIR to an ' +
      'existing folder with a short path, or set DATABASE_URL.',
  );
}

const urlOf = ({ port, socketFolder: folder, password }: RunningPostgres) =>
  folder
    ? `postgresql://${DATABASE_USER}@localhost:${port}/${DATABASE}?host=${encodeURIComponent(folder)}`
    : `postgresql://${DATABASE_USER}:${password}@127.0.0.1:${port}/${DATABASE}`;

const folderInUseError = (dir: string, pid?: number) =>
  unavailable(
    `The data folder ${dir} is already served by a running PostgreSQL${pid ? ` (process ${pid})` : ''}. ` +
      'Stop that server, or use another data folder.',
  );

/** Waits until no process serves the cluster. Throws if a process still serves the cluster. */
async function waitUntilFree(dir: string, cluster: string): Promise<void> {
  let remainingServer = await waitWhile(cluster, ({ status }) => status !== 'stopping', BUSY_MS);
  if (remainingServer?.status === 'stopping')
    remainingServer = await waitWhile(cluster, () => true, CHANGE_MS);
  if (remainingServer) throw folderInUseError(dir, remainingServer.pid);
}

function startGuard({ binaries, cluster, user }: ClusterLocation, flags: string[]): ChildProcess {
  const program = path.join(binaries, 'bin', 'postgres');
  const args = [
    '-D',
    dataPath(cluster, user),
    '-k',
    createSocketFolder(cluster, user),
    '-p',
    `${PORT}`,
  ];
  args.push('-c', 'listen_addresses=', '-c', 'unix_socket_permissions=0700', ...flags);
  return spawn('/bin/sh', ['-c', GUARD, 'railhead-postgres', program, ...args], {
    ...user,
    env: cleanEnv(),
    cwd: cluster,
    stdio: ['pipe', 'ignore', 'pipe'],
    // A separate process group, so that Ctrl-C in a terminal reaches this process only. This process stops
    // PostgreSQL when its work is complete.
    detached: true,
  });
}

/**
 * Resolves with true when PostgreSQL accepts connections. Resolves with false if PostgreSQL exited because
 * children of its killed predecessor still run. Rejects with the FATAL line or the last log line.
 */
function waitUntilReady(
  dir: string,
  guard: ChildProcess,
  log: (line: string) => void,
): Promise<boolean> {
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (code: number | null) => {
      const fatalLine =
        lines.find((line) => line.startsWith('FATAL')) ?? lines.at(-1) ?? `exit ${code}`;
      if (/pre-existing shared memory block .* still in use/.test(fatalLine)) return resolve(false);
      const isInUse = /lock file "postmaster.pid" already exists/.test(fatalLine);
      const reason = fatalLine.replace(/^FATAL:\s+/, '');
      reject(isInUse ? folderInUseError(dir) : unavailable(`PostgreSQL does not start: ${reason}`));
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
 * Starts PostgreSQL and waits until it accepts connections. If only the postmaster was killed, its children
 * exit at their next wait, at the latest when their query is complete.
 */
async function startServer(
  location: ClusterLocation,
  options: EmbeddedOptions,
): Promise<ChildProcess> {
  const { durable = true, log = () => undefined, maxConnections = 0 } = options;
  const start = process.platform === 'win32' ? startOnWindows : startGuard;
  for (let waitedMs = 0; waitedMs < CHANGE_MS; waitedMs += ORPHANS_MS) {
    const guard = await start(location, flagsFor(durable, maxConnections));
    if (await waitUntilReady(options.dir, guard, log)) return guard;
    await sleep(ORPHANS_MS);
  }
  throw unavailable(
    `Queries of a killed PostgreSQL in ${options.dir} are still running. ` +
      'Try again later, or end its processes.',
  );
}

/** The handle of the running PostgreSQL for the caller that started it. */
function handleOf(guard: ChildProcess, server: RunningPostgres, durable: boolean): Embedded {
  const exitCode = new Promise<number | null>((resolve) => guard.once('close', resolve));
  // If the caller exits without stopping PostgreSQL, the guard process stops it.
  guard.unref();
  for (const stream of [guard.stdin, guard.stderr]) (stream as { unref?(): void })?.unref?.();
  const stopServer = async () => {
    guard.ref();
    guard.stdin?.end();
    const result = await Promise.race([exitCode, sleep(STOP_MS, 'late', { ref: false })]);
    if (result === 'late') process.kill(server.pid, 'SIGQUIT');
    await exitCode;
    // The folder of a durable cluster remains, because the next process may already use it.
    if (!durable && server.socketFolder) fs.rmSync(server.socketFolder, { recursive: true });
  };
  let stopPromise: Promise<void> | undefined;
  return {
    url: urlOf(server),
    pid: server.pid,
    exited: new Promise((resolve) => {
      exitCode.then((code) => stopPromise ?? resolve(`PostgreSQL exited unexpectedly (${code}).`));
    }),
    stop() {
      stopPromise ??= stopServer();
      return stopPromise;
    },
  };
}

function toPlainError(dir: string, error: unknown): unknown {
  const { code, name, message } = error as NodeJS.ErrnoException;
  if (name === 'DatabaseUnavailable') return error;
  const isDenied = code === 'EACCES' || code === 'EPERM';
  const problem = isDenied
    ? `The data folder ${dir} cannot be used by this user`
    : 'The embedded PostgreSQL cannot be started';
  return unavailable(`${problem}: ${message}`, error);
}

/**
 * Starts PostgreSQL on `dir`, usually in less than 0.1 s. The first start also creates the cluster.
 * Throws an error named DatabaseUnavailable with one line of text. The reasons are a platform
 * without a build, a folder in use or of another user, and errors of PostgreSQL.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { durable = true, random } = options;
  const dir = path.resolve(options.dir);
  try {
    const location = prepareCluster({ dir, durable, random });
    await waitUntilFree(dir, location.cluster);
    const guard = await startServer(location, { ...options, dir });
    const server = runningIn(location.cluster);
    if (!server) throw unavailable('PostgreSQL exited immediately after its start.');
    return handleOf(guard, server, durable);
  } catch (error) {
    throw toPlainError(dir, error);
  }
}

/**
 * The connection string of the PostgreSQL that another process runs on `dir`. Undefined if there is none.
 */
export async function attachEmbedded(dir: string): Promise<string | undefined> {
  try {
    const server = await waitWhile(clusterOf(dir), ({ status }) => status !== 'ready', CHANGE_MS);
    return server && urlOf(server);
  } catch (error) {
    throw toPlainError(dir, error);
  }
}

/**
 * Runs `work` on the PostgreSQL of `dir`. Starts a PostgreSQL for this call unless another process runs it.
 */
export async function withEmbedded<T>(
  options: EmbeddedOptions,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const url = await attachEmbedded(options.dir);
  if (url !== undefined) return work(url);
  const server = await startEmbedded(options);
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}
