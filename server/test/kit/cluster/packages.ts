// Debian packages with the programs of a cluster. The user root installs missing packages. Other
// users receive their names.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const POSTGRES_FOLDER = '/usr/lib/postgresql';

/** Returns the folder with the programs of the newest installed PostgreSQL, 15 or later. */
export function postgresBinaries(): string | undefined {
  const versions = fs.existsSync(POSTGRES_FOLDER)
    ? fs.readdirSync(POSTGRES_FOLDER).map(Number)
    : [];
  const folders = versions
    .filter((version) => version >= 15)
    .sort((a, b) => b - a)
    .map((version) => path.join(POSTGRES_FOLDER, String(version), 'bin'));
  return folders.find((folder) => fs.existsSync(path.join(folder, 'postgres')));
}

/**
 * Whether a resumed Patroni can overwrite the leader key of the new primary. Versions before 3.1
 * overwrite the key in etcd v3 (pull requests 2689 and 2693 of Patroni). Debian 12 contains 3.0.2.
 */
export function canOverwriteLeaderKey(): boolean {
  const { stdout } = spawnSync('/usr/bin/patroni', ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) < 3 || (Number(major) === 3 && Number(minor) < 1);
}

const isProgram = (name: string) =>
  ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].some((folder) =>
    fs.existsSync(path.join(folder, name)),
  );

/** The packages, each with a function that returns whether it is installed. */
const PACKAGES: Readonly<Record<string, () => boolean>> = {
  postgresql: () => postgresBinaries() !== undefined,
  patroni: () => isProgram('patroni'),
  'python3-etcd': () => fs.existsSync('/usr/lib/python3/dist-packages/etcd'),
  'etcd-server': () => isProgram('etcd'),
  haproxy: () => isProgram('haproxy'),
  pgbouncer: () => isProgram('pgbouncer'),
  openssl: () => isProgram('openssl'),
  iproute2: () => isProgram('ip'),
  curl: () => isProgram('curl'),
};

const findMissingPackages = () => Object.keys(PACKAGES).filter((name) => !PACKAGES[name]?.());

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Installs missing packages. Returns the reason if the cluster cannot be started. */
export function ensurePackages(print: (line: string) => void): string | undefined {
  const names = findMissingPackages();
  if (names.length === 0) return undefined;
  const command = `apt-get install --no-install-recommends ${names.join(' ')}`;
  if (process.platform !== 'linux' || !isProgram('apt-get'))
    return `These Debian packages are required: ${names.join(', ')}.`;
  if (!isRoot()) return `Install these packages first: sudo ${command}`;
  print(`Installing ${names.join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', ...names],
  ]) {
    const { status, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (status !== 0) return `apt-get ${args[0]} failed: ${stderr.trim().split('\n').at(-1)}`;
  }
  const remainingPackages = findMissingPackages();
  return remainingPackages.length
    ? `apt-get did not install these packages: ${remainingPackages.join(', ')}.`
    : undefined;
}
