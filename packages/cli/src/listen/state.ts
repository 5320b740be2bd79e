// Files of `listen`: its endpoint with the secret, the journal of forwarded events, and a lock.
// With these files, `listen` continues after any interruption.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { CliError } from '../exit.ts';
import { readJson, stateFolder, writePrivate } from '../profile/config.ts';
import type { Target } from '../profile/resolve.ts';

export interface ListenState {
  readonly endpointId: string;
  readonly secret: string;
}

export interface ListenFiles {
  readonly state: string;
  readonly journal: string;
  readonly lock: string;
}

/** Files of a listener, separate for each server, client ID and name. */
export function filesOf({ url, clientId }: Target, name: string): ListenFiles {
  const key = createHash('sha256').update(`${url} ${clientId} ${name}`).digest('hex').slice(0, 16);
  const folder = path.join(stateFolder(), 'listen');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const at = (suffix: string) => path.join(folder, `${key}.${suffix}`);
  return { state: at('json'), journal: at('journal'), lock: at('lock') };
}

/** Description by which an endpoint is found if the files are missing. */
export const labelOf = (name: string): string => `railhead listen ${name} on ${os.hostname()}`;

export const loadState = ({ state }: ListenFiles): ListenState | undefined =>
  readJson(state) as ListenState | undefined;

export const saveState = ({ state }: ListenFiles, value: ListenState): void =>
  writePrivate(state, value);

export function deleteState({ state, journal }: ListenFiles): void {
  for (const file of [state, journal]) rmSync(file, { force: true });
}

/**
 * Whether a killed process is a zombie: its parent has not read its exit code, for example in a container
 * without an init process. A zombie still accepts signals.
 */
export function isZombie(pid: number): boolean {
  try {
    // The name in parentheses can contain any character. The state follows it.
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  // In a container every run can have the same process ID.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Locks a listener, because two listeners with one name would forward each event twice. Returns the
 * function that unlocks. Throws while another process has the lock.
 */
export function lock({ lock: file }: ListenFiles, name: string): () => void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 1) throw error;
    }
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid > 0 && isRunning(pid)) {
      const hint = 'Stop this process, or use another --name. Each listener receives every event.';
      throw new CliError(`The listener ${name} is running as process ${pid}.`, { hint });
    }
    rmSync(file, { force: true });
  }
}
