// Creates the cluster, which is the folder of PostgreSQL inside the data folder. The cluster is created
// once, with a sort order that is the same on every platform (builtin C.UTF-8). A complete cluster is
// renamed to its name, so that a kill at any time never produces an incomplete cluster.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {
  findBinaries,
  missingBuildError,
  PLATFORM,
  type RunAs,
  unavailable,
} from './embedded-binaries.ts';
import { passwordArguments } from './embedded-windows.ts';

/** Programs, cluster, and the user that runs it. An undefined user is the user of this process. */
export interface ClusterLocation {
  binaries: string;
  cluster: string;
  user: RunAs | undefined;
}

interface ClusterOptions {
  /** The data folder, absolute. The cluster is its subfolder `postgres`. */
  dir: string;
  durable: boolean;
  random?: ((bytes: number) => Uint8Array) | undefined;
}

/** The cluster's only database user. */
export const DATABASE_USER = 'railhead';
/** The unprivileged user that exists on every Linux. `initdb` requires a user with a name. */
const UNPRIVILEGED_USER: RunAs = { uid: 65534, gid: 65534 };

export const clusterOf = (dir: string) => path.join(path.resolve(dir), 'postgres');

/**
 * The environment of PostgreSQL's programs. Except on Windows, it has no inherited configuration.
 */
export const cleanEnv = (): NodeJS.ProcessEnv =>
  process.platform === 'win32'
    ? process.env
    : { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };

/**
 * The user that must run PostgreSQL. If this process is root, this is the owner of the cluster, or
 * the unprivileged user if there is no other owner. Undefined for the user of this process.
 */
function chooseUser(cluster: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (process.platform !== 'linux') {
    throw unavailable(
      'The embedded PostgreSQL cannot run as root on this system. Start the server as another user.',
    );
  }
  const owner = fs.statSync(cluster, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : UNPRIVILEGED_USER;
}

/**
 * The path of the cluster for PostgreSQL. An unprivileged user may not be able to reach the folder by its
 * path, and a process keeps its working directory. Root therefore enters the folder and then drops its
 * rights, and PostgreSQL finds its data in its working directory. Other processes of the unprivileged user
 * cannot reach the data.
 */
export const dataPath = (cluster: string, user: RunAs | undefined) =>
  user ? '/proc/self/cwd' : cluster;

/** Flushes new names in the folder, so that they survive a power failure. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = fs.openSync(folder, 'r');
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.trim() || 'no reason reported';

function runInitdb({ binaries, cluster, user }: ClusterLocation, options: ClusterOptions): void {
  const { dir, durable, random } = options;
  const args = ['-D', dataPath(cluster, user), '-U', DATABASE_USER, '-E', 'UTF8'];
  args.push('--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C');
  args.push('--no-instructions', ...(durable ? [] : ['--no-sync']));
  args.push(...(process.platform === 'win32' ? passwordArguments(dir, random) : ['-A', 'trust']));
  const program = path.join(binaries, 'bin', 'initdb');
  const result = spawnSync(program, args, {
    ...user,
    env: cleanEnv(),
    cwd: cluster,
    encoding: 'utf8',
    windowsHide: true,
  });
  // For an existing program, ENOENT means that its loader is missing. The system has another C library
  // (Alpine).
  const { error } = result;
  if ((error as NodeJS.ErrnoException)?.code === 'ENOENT') throw missingBuildError(PLATFORM, error);
  if (error) throw unavailable(`PostgreSQL cannot be executed: ${error.message}.`, error);
  if (result.status !== 0)
    throw unavailable(`PostgreSQL cannot be initialized: ${lastLine(result.stderr)}`);
}

/**
 * Authenticates connections by the peer credentials of the kernel, because other processes of the
 * unprivileged user can reach the socket.
 */
function permitRootOnly(cluster: string): void {
  fs.writeFileSync(path.join(cluster, 'pg_hba.conf'), 'local all all peer map=railhead\n');
  fs.writeFileSync(path.join(cluster, 'pg_ident.conf'), `railhead root ${DATABASE_USER}\n`);
}

function createCluster(location: ClusterLocation, options: ClusterOptions): void {
  const { cluster, user } = location;
  const temporaryFolder = fs.mkdtempSync(`${cluster}.new-${process.pid}-`);
  try {
    if (user) fs.chownSync(temporaryFolder, user.uid, user.gid);
    runInitdb({ ...location, cluster: temporaryFolder }, options);
    if (user) permitRootOnly(temporaryFolder);
    try {
      fs.renameSync(temporaryFolder, cluster);
    } catch (error) {
      // Another process has created the cluster concurrently. The start determines which process
      // serves it.
      if (!fs.existsSync(path.join(cluster, 'PG_VERSION'))) throw error;
    }
    if (!options.durable) return;
    for (const folder of [options.dir, path.dirname(options.dir)]) flushFolder(folder);
  } finally {
    fs.rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

/** Removes incomplete clusters of processes that were killed. */
function removeIncompleteClusters(dir: string): void {
  for (const name of fs.readdirSync(dir)) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (pid === undefined) continue;
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') continue;
      fs.rmSync(path.join(dir, name), { recursive: true, force: true });
    }
  }
}

/** Creates the data folder and the cluster if they are missing. Returns their location. */
export function prepareCluster(options: ClusterOptions): ClusterLocation {
  const { dir } = options;
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const cluster = path.join(fs.realpathSync(dir), 'postgres');
  const user = chooseUser(cluster);
  const location = { binaries: findBinaries(user), cluster, user };
  removeIncompleteClusters(dir);
  if (!fs.existsSync(path.join(cluster, 'PG_VERSION'))) createCluster(location, options);
  return location;
}
