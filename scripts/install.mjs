// Ensures that the packages of package-lock.json are in node_modules. npm runs only if one is missing, so a
// start is only a few milliseconds longer and a manual installation is accepted. The script needs only
// Node, because no package may be installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = path.join(root, 'node_modules');
/** npm's record of the installed packages. */
const INSTALLED = path.join(modules, '.package-lock.json');
/**
 * Record of the lock file, platform and kind of the last completed installation, written by this
 * script.
 */
const STAMP = path.join(modules, '.railhead-installed.json');
/** Contains folders only, so git ignores it. */
const LOCK = path.join(root, '.install-lock');
const OLDEST_NODE = [20, 19];
/** A lock without a process ID is being written, unless it is older than this. */
const UNSIGNED_MS = 5_000;
const POLL_MS = 200;

const print = (line) => process.stderr.write(`${line}\n`);

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [needMajor, needMinor] = OLDEST_NODE;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  print(
    `Railhead needs Node ${OLDEST_NODE.join('.')} or newer. The version is ${process.versions.node}.`,
  );
  process.exit(2);
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Whether a folder has the packages of its lock file except optional ones. `dev: false` also excludes
 * those for development.
 */
export function hasLockedPackages(folder, { dev: needsDev = true } = {}) {
  const lockedPackages = readJson(path.join(folder, 'package-lock.json'))?.packages ?? {};
  const installedPackages = readJson(
    path.join(folder, 'node_modules', '.package-lock.json'),
  )?.packages;
  return Object.entries(lockedPackages).every(
    ([packagePath, { version, optional, dev }]) =>
      packagePath === '' ||
      optional ||
      (dev && !needsDev) ||
      installedPackages?.[packagePath]?.version === version,
  );
}

const includesValue = (list, expectedValue) =>
  !list || (list.some((value) => value === expectedValue) && !list.includes(`!${expectedValue}`));

/** Whether this machine needs a package of the lock file. */
function isExpected(entry, dev) {
  if (entry.dev && !dev) return false;
  if (!entry.optional && !entry.devOptional) return true;
  // An optional package, such as the database, is needed if it is built for this platform.
  // Detecting the C library takes long, so npm selects the builds that depend on it.
  if (!entry.os || entry.libc) return false;
  return includesValue(entry.os, process.platform) && includesValue(entry.cpu, process.arch);
}

function isInstalled(packagePath, entry, installedPackages) {
  const installedPackage = installedPackages[packagePath];
  if (!installedPackage || !fs.existsSync(path.join(root, packagePath, 'package.json')))
    return false;
  if (entry.link) return true;
  const isSameBuild =
    !entry.integrity ||
    !installedPackage.integrity ||
    entry.integrity === installedPackage.integrity;
  return installedPackage.version === entry.version && isSameBuild;
}

const lockFileText = () => fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8');

const stampFor = (dev) => ({
  list: createHash('sha256').update(lockFileText()).digest('hex'),
  platform: `${process.platform}-${process.arch}`,
  dev,
});

/** Whether npm has completed an installation of this lock file. */
function hasCompletedInstallation(dev) {
  const { list, platform } = stampFor(dev);
  const stamp = readJson(STAMP);
  return stamp?.list === list && stamp.platform === platform && (stamp.dev || !dev);
}

/** Undefined, or the required kind of installation: with or without packages for tests. */
function requiredInstallation(dev) {
  const installedPackages = readJson(INSTALLED)?.packages;
  if (!installedPackages) return { dev, fresh: true };
  const { packages } = JSON.parse(lockFileText());
  const missingEntries = Object.entries(packages)
    .filter(
      ([packagePath, entry]) => packagePath.includes('node_modules/') && isExpected(entry, dev),
    )
    .filter(([packagePath, entry]) => !isInstalled(packagePath, entry, installedPackages));
  // npm omits optional packages that are unavailable. Another attempt at each start would fail again.
  const requiredEntries = hasCompletedInstallation(dev)
    ? missingEntries.filter(([, entry]) => !entry.optional)
    : missingEntries;
  if (requiredEntries.length === 0) return undefined;
  const hasDev = Object.values(installedPackages).some((entry) => entry.dev);
  return { dev: dev || hasDev, fresh: false };
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** ID of the process that holds the lock. 0 if it is not written yet, or undefined if none runs. */
function holder() {
  try {
    const [name] = fs.readdirSync(LOCK);
    if (name) return isRunning(Number(name)) ? Number(name) : undefined;
    return Date.now() - fs.statSync(LOCK).mtimeMs < UNSIGNED_MS ? 0 : undefined;
  } catch {
    return undefined;
  }
}

function tryLock() {
  try {
    fs.mkdirSync(LOCK);
    fs.mkdirSync(path.join(LOCK, String(process.pid)));
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (holder() !== undefined) return false;
  // The process of the lock has exited. Of several processes only one can rename the lock.
  const renamedLock = `${LOCK}.${process.pid}`;
  try {
    fs.renameSync(LOCK, renamedLock);
    fs.rmSync(renamedLock, { recursive: true });
  } catch {
    // Another process has already renamed the lock.
  }
  return false;
}

async function lock() {
  for (let isReported = false; !tryLock(); await sleep(POLL_MS)) {
    if (!isReported && holder()) {
      print(
        `Another process (${holder()}) is installing packages in this checkout. Waiting for it …`,
      );
      isReported = true;
    }
  }
}

function runNpm(args) {
  // Under `npm start` the same npm is used. In other cases the npm on the PATH is used.
  const npm = process.env.npm_execpath;
  const script = npm && /\.[cm]?js$/.test(npm) ? npm : undefined;
  const [program, leadingArgs] = script ? [process.execPath, [script]] : ['npm', []];
  return spawnSync(program, [...leadingArgs, ...args], {
    cwd: root,
    // npm's output is written to standard error. Standard output belongs to the calling command.
    stdio: ['ignore', 'ignore', 2],
    shell: !script && process.platform === 'win32',
  });
}

function install({ dev, fresh }) {
  const start = performance.now();
  print(`Installing packages${dev ? ' (with those for tests)' : ''} …`);
  // `ci` would remove the packages of a running server, so an incomplete installation is completed
  // instead.
  const command = fresh ? ['ci'] : ['install', '--no-save'];
  const kind = dev ? ['--include=dev'] : ['--omit=dev'];
  const quietFlags = ['--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = runNpm([...command, '--ignore-scripts', ...kind, ...quietFlags]);
  if (status !== 0) {
    const reason = error
      ? `npm cannot be run: ${error.message}`
      : `npm ${command[0]} failed. See its messages above`;
    print(`The packages are not installed: ${reason}.`);
    process.exit(1);
  }
  fs.writeFileSync(STAMP, JSON.stringify(stampFor(dev)));
  print(`Packages installed in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
}

/**
 * Installs missing packages. `dev` includes packages of the tests. Exits if the installation fails.
 */
export async function ensureInstalled({ dev }) {
  checkNode();
  if (!requiredInstallation(dev)) return;
  await lock();
  try {
    const installation = requiredInstallation(dev);
    if (installation) install(installation);
  } finally {
    fs.rmSync(LOCK, { recursive: true, force: true });
  }
}
