// Finds the process that serves a cluster, by PostgreSQL's own lock file, `postmaster.pid`. The
// file remains after a crash and its process id may since have been reused by an unrelated process
// (in a container it usually has), which PostgreSQL cannot distinguish from a running server. This
// module can, and then removes the reused id. The file itself must remain: PostgreSQL finds in it
// the shared memory by which it detects whether children of the crashed server still write.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Running {
  pid: number;
  port: number;
  /** Empty if there is none (Windows). */
  socketFolder: string;
  status: 'starting' | 'ready' | 'stopping' | 'standby';
  /** Set on Windows only. */
  password: string;
}

const PID_FILE = 'postmaster.pid';
/** Written by embedded-windows.ts, in the folder of the cluster. */
export const PASSWORD_FILE = 'postgres.password';
/** One more than the largest process id of any system. */
const NO_PROCESS = 4_194_305;
const POLL_MS = 20;

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the living process `pid` is the PostgreSQL of `cluster`. */
function serves(pid: number, cluster: string): boolean {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    // PostgreSQL's working directory is its cluster. Reading it requires the cluster's owner or
    // root.
    try {
      return fs.readlinkSync(`/proc/${pid}/cwd`) === fs.realpathSync(cluster);
    } catch {
      return false;
    }
  }
  const { stdout } = spawnSync('ps', ['-o', 'comm=', '-p', `${pid}`], { encoding: 'utf8' });
  return stdout.includes('postgres');
}

/** Removes the id of an unrelated process from the lock files. */
function removeReusedPid(cluster: string, pid: number, socketFolder: string, port: string): void {
  const socketLock = path.join(socketFolder, `.s.PGSQL.${port}.lock`);
  for (const file of [path.join(cluster, PID_FILE), socketLock]) {
    if (!fs.existsSync(file)) continue;
    const text = fs.readFileSync(file, 'utf8');
    if (text.startsWith(`${pid}\n`)) fs.writeFileSync(file, text.replace(/^\d+/, `${NO_PROCESS}`));
  }
}

/** The PostgreSQL that serves `cluster` now, if any. */
export function runningIn(cluster: string): Running | undefined {
  const file = path.join(cluster, PID_FILE);
  if (!fs.existsSync(file)) return undefined;
  const lines = fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim());
  const [firstLine = '', , , port = '', socketFolder = '', , , status] = lines;
  const pid = Number(firstLine);
  if (!Number.isInteger(pid) || pid <= 0 || !exists(pid)) return undefined;
  if (!serves(pid, cluster)) {
    if (socketFolder) removeReusedPid(cluster, pid, socketFolder, port);
    return undefined;
  }
  const secret = path.join(path.dirname(cluster), PASSWORD_FILE);
  const password = fs.existsSync(secret) ? fs.readFileSync(secret, 'utf8').trim() : '';
  return {
    pid,
    port: Number(port),
    socketFolder,
    status: (status || 'starting') as Running['status'],
    password,
  };
}

/** Polls while `cluster` is served and `test` holds. Returns the last state, at most `ms` later. */
export async function waitWhile(
  cluster: string,
  test: (running: Running) => boolean,
  ms: number,
): Promise<Running | undefined> {
  for (let waited = 0; ; waited += POLL_MS) {
    const running = runningIn(cluster);
    if (!running || !test(running) || waited >= ms) return running;
    await sleep(POLL_MS);
  }
}
