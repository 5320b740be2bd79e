// Checks of the machine and of the data folder, which need no database.
import fs from 'node:fs';
import path from 'node:path';
import { type MasterKeySource, masterKeyFile } from '../security/master-key.ts';
import { type Finding, failure, success, warning } from './finding.ts';

/** Settings that are checked. */
interface Settings {
  dataDir: string;
  production: boolean;
  publicUrl: string | undefined;
  databaseUrl: string | undefined;
}

/** The oldest version that the project supports. */
const MIN_NODE: readonly [number, number] = [20, 19];
/** Free shares of the disk below which the check warns, and below which it fails. */
const LOW_SHARE = 0.1;
const CRITICAL_SHARE = 0.03;
const GIB = 1024 ** 3;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = MIN_NODE;
  const detail = `This program runs in Node.js ${version}.`;
  if (major < minMajor || (major === minMajor && minor < minMinor)) {
    const problem = `Node.js ${version} is not supported.`;
    return failure('node', problem, `Install Node.js ${minMajor}.${minMinor} or newer.`);
  }
  if (major % 2 === 1) {
    const problem = `Node.js ${version} has no long-term support.`;
    return warning('node', problem, 'Use a version with an even number.');
  }
  return success('node', detail);
}

/** The folder, or its nearest existing parent folder. */
function existingFolder(folder: string): string {
  for (let current = folder; ; current = path.dirname(current)) {
    if (fs.existsSync(current) || current === path.dirname(current)) return current;
  }
}

/** Checks the free space of the disk of a folder. `total` and `free` are bytes. */
export function checkSpace(folder: string, { total, free }: { total: number; free: number }) {
  const share = total === 0 ? 0 : free / total;
  const percent = `${Math.floor(share * 100)} %`;
  const detail = `${(free / GIB).toFixed(1)} GiB (${percent}) free on the disk of ${folder}.`;
  const remedy = 'Free space or enlarge the disk. Without space the database stops.';
  if (share < CRITICAL_SHARE) return failure('disk', detail, remedy);
  return share < LOW_SHARE ? warning('disk', detail, remedy) : success('disk', detail);
}

export function checkDisk(folder: string): Finding {
  const { blocks, bavail, bsize } = fs.statfsSync(existingFolder(folder));
  return checkSpace(folder, { total: blocks * bsize, free: bavail * bsize });
}

export function checkDataFolder({ dataDir }: Pick<Settings, 'dataDir'>): Finding {
  const folder = existingFolder(dataDir);
  try {
    fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK);
  } catch {
    return failure(
      'data-folder',
      `${folder} cannot be read and written by this user.`,
      'Run the server and its commands as the owner of the folder.',
    );
  }
  if (folder !== dataDir) {
    return success('data-folder', `${dataDir} does not exist yet. The first start creates it.`);
  }
  return success('data-folder', `${dataDir} can be read and written.`);
}

/**
 * Checks that the master key is readable by its owner only, and that production has one. Never
 * creates a key.
 */
export function checkMasterKeyFile({
  production,
  dataDir,
  ...source
}: Pick<Settings, 'production' | 'dataDir'> & MasterKeySource): Finding {
  if (source.masterKey) return success('master-key', 'RAILHEAD_MASTER_KEY is set.');
  if (source.masterKeyCommand) return success('master-key', 'A command prints the master key.');
  if (source.masterKeyFile !== undefined) return checkKeyFile(source.masterKeyFile);
  if (production) {
    return failure(
      'master-key',
      'No master key is set.',
      'Set RAILHEAD_MASTER_KEY, RAILHEAD_MASTER_KEY_FILE or RAILHEAD_MASTER_KEY_COMMAND. ' +
        'Do not store the key with the data.',
    );
  }
  const file = masterKeyFile(dataDir);
  if (!fs.existsSync(file)) {
    return success('master-key', 'There is no key yet. The first start creates one.');
  }
  return checkKeyFile(file);
}

function checkKeyFile(file: string): Finding {
  const fileStats = fs.statSync(file, { throwIfNoEntry: false });
  if (!fileStats) {
    return failure('master-key', `${file} does not exist.`, 'Restore the file of the master key.');
  }
  if (process.platform !== 'win32' && (fileStats.mode & 0o077) !== 0) {
    return warning('master-key', `${file} can be read by other users.`, `Run chmod 600 ${file}.`);
  }
  return success('master-key', `${file} can be read by its owner only.`);
}

/** Checks for settings that are valid but unsuitable in production. */
export function checkProductionSettings({ production, publicUrl, databaseUrl }: Settings): Finding {
  if (!production) return success('settings', 'All settings are valid.');
  const problems = [
    ...(publicUrl?.startsWith('https:') ? [] : ['RAILHEAD_PUBLIC_URL is not an HTTPS URL.']),
    ...(databaseUrl ? [] : ['DATABASE_URL is not set. The embedded database has no replica.']),
  ];
  if (problems.length === 0) return success('settings', 'All settings are valid.');
  return warning('settings', problems.join(' '), 'See docs/settings.md.');
}
