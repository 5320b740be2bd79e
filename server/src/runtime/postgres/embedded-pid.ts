// Finds the process that serves a cluster, by the lock file of PostgreSQL, `postmaster.pid`. After a crash,
// an unrelated process may reuse the process ID in the file. PostgreSQL cannot distinguish this process
// from a running server, so this module removes the ID. The file must remain, because it names the shared
// memory by which PostgreSQL detects children of the crashed server.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RunningPostgres {
  pid: number;
  port: number;
  /** Empty on Windows, which has no socket. */
  socketFolder: string;
  status: 'starting' | 'ready' | 'stopping' | 'standby';
  /** Set on Windows only. */
  password: string;
}

const PID_FILE = 'postmaster.pid';
/** Written by embedded-windows.ts, in the data folder. */
export const PASSWORD_FILE = 'postgres.password';
/** A number above the process IDs of all systems. */
const NO_PROCESS = 4_194_305;
const POLL_MS = 20;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the running process `pid` is the PostgreSQL of `cluster`. */
function isServing(pid: number, cluster: string): boolean {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    // The working directory of PostgreSQL is its cluster. Only the owner of the cluster and root can read
    // this directory.
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(cluster);
    } catch {
      return false;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'comm=', '-p', `${pid}`], { encoding: 'utf8' });
  return stdout.includes('postgres');
}

/** Removes the ID of an unrelated process from the lock files. */
function removeReusedPid(cluster: string, pid: number, socketFolder: string, port: string): void {
  const socketLock = path.join(socketFolder, `.s.PGSQL.${port}.lock`);
  for (const file of [path.join(cluster, PID_FILE), socketLock]) {
    if (!fs.existsSync(file)) continue;
    const text = fs.readFileSync(file, 'utf8');
    if (text.startsWith(`${pid}\n`)) fs.writeFileSync(file, text.replace(/^\d+/, `${NO_PROCESS}`));
  }
}

/**
 * The PostgreSQL that serves `cluster`. Undefined if there is none. Removes the ID of an unrelated process
 * from the lock files.
 */
export function runningIn(cluster: string): RunningPostgres | undefined {
  const file = path.join(cluster, PID_FILE);
  if (!fs.existsSync(file)) return undefined;
  const lines = fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim());
  const [firstLine = '', , , port = '', socketFolder = '', , , status] = lines;
  const pid = Number(firstLine);
  if (!Number.isInteger(pid) || pid <= 0 || !isRunning(pid)) return undefined;
  if (!isServing(pid, cluster)) {
    if (socketFolder) removeReusedPid(cluster, pid, socketFolder, port);
    return undefined;
  }
  const passwordFile = path.join(path.dirname(cluster), PASSWORD_FILE);
  const password = fs.existsSync(passwordFile) ? fs.readFileSync(passwordFile, 'utf8').trim() : '';
  return {
    pid,
    port: Number(port),
    socketFolder,
    status: (status || 'starting') as RunningPostgres['status'],
    password,
  };
}

/** Polls while `cluster` is served and `test` returns true, at most for `ms`. Returns the last state. */
export async function waitWhile(
  cluster: string,
  test: (server: RunningPostgres) => boolean,
  ms: number,
): Promise<RunningPostgres | undefined> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const server = runningIn(cluster);
    if (!server || !test(server) || waitedMs >= ms) return server;
    await sleep(POLL_MS);
  }
}
