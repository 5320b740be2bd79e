// A restored cluster that recovers the write-ahead log up to a time, and then serves only this
// process. It uses a socket in a separate folder. Settings for archiving, replication, TLS and
// libraries are overridden. The cluster is stopped when this process exits for any reason.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { GUARD } from './embedded.ts';
import { findBinaries, type RunAs, unavailable } from './embedded-binaries.ts';
import { cleanEnv, dataPath } from './embedded-cluster.ts';

export interface ScratchOptions {
  /** The folder of the cluster. */
  cluster: string;
  /** Folder of the programs of PostgreSQL. Defaults to the embedded programs. */
  bin?: string | undefined;
  /** Folder of the archive. Defaults to the settings of the cluster. */
  wal?: string | undefined;
  /** Time up to which the write-ahead log is recovered. Defaults to its end. */
  until?: Date | undefined;
  user: string;
  database: string;
}

export interface Scratch {
  url: string;
  stop(): Promise<void>;
}

/** The owner of the cluster, if this process is root. */
function ownerOf(cluster: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = fs.statSync(path.join(cluster, 'PG_VERSION'));
  return { uid, gid };
}

/**
 * The target of the recovery. Its offset is a number, because PostgreSQL reads this setting before it loads
 * the abbreviations of time zones.
 */
const targetOf = (until: Date) => until.toISOString().replace('Z', '+00');

function settingsOf({ wal, until }: ScratchOptions): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    archive_mode: 'off',
    hot_standby: 'off',
    fsync: 'off',
    ssl: 'off',
    shared_preload_libraries: '',
    logging_collector: 'off',
    log_destination: 'stderr',
    log_min_messages: 'log',
    synchronous_standby_names: '',
    primary_conninfo: '',
    cluster_name: 'railhead restore',
    recovery_target_action: 'promote',
    ...(wal === undefined ? {} : { restore_command: `cp "${wal}/%f" "%p"` }),
    ...(until ? { recovery_target_time: targetOf(until) } : {}),
  };
}

/** The environment of the program that restores the write-ahead log, which may contain its settings. */
const environmentOf = ({ bin }: ScratchOptions): NodeJS.ProcessEnv =>
  bin === undefined
    ? cleanEnv()
    : {
        ...Object.fromEntries(
          Object.entries(process.env).filter(([name]) => !/^PG(?!BACKREST)/.test(name)),
        ),
        ...cleanEnv(),
      };

/**
 * Creates the files that PostgreSQL needs, and returns the flags for its authentication. Only the owner of
 * the socket folder can connect, so connections need no password.
 */
function prepare(
  options: ScratchOptions,
  socketFolder: string,
  owner: RunAs | undefined,
): string[] {
  const { cluster, wal, until } = options;
  const accessFile = path.join(socketFolder, 'pg_hba.conf');
  fs.writeFileSync(accessFile, 'local all all trust\n', { mode: 0o644 });
  const ownedPaths = [cluster];
  const create = (name: string) => {
    const file = path.join(cluster, name);
    if (!fs.existsSync(file)) fs.writeFileSync(file, '', { mode: 0o600 });
    ownedPaths.push(file);
  };
  // Debian stores this file in another folder.
  create('postgresql.conf');
  if (wal !== undefined || until) create('recovery.signal');
  fs.chmodSync(cluster, 0o700);
  if (owner) for (const name of ownedPaths) fs.chownSync(name, owner.uid, owner.gid);
  return ['-c', `hba_file=${accessFile}`];
}

/**
 * Starts the cluster and waits until the recovery is complete. Throws DatabaseUnavailable with the
 * reason.
 */
export async function openScratch(options: ScratchOptions): Promise<Scratch> {
  const { cluster, user, database } = options;
  const owner = ownerOf(cluster);
  const socketFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-restore-'));
  if (owner) fs.chownSync(socketFolder, owner.uid, owner.gid);
  const program = options.bin
    ? path.join(options.bin, 'postgres')
    : path.join(findBinaries(owner), 'bin', 'postgres');
  const flags = Object.entries(settingsOf(options)).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const args = ['-D', dataPath(cluster, owner), '-k', socketFolder, '-p', '5432', ...flags];
  args.push(...prepare(options, socketFolder, owner));
  const guard = spawn('/bin/sh', ['-c', GUARD, 'railhead-postgres', program, ...args], {
    ...owner,
    env: environmentOf(options),
    cwd: cluster,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  });
  const closePromise = new Promise<void>((resolve) => guard.once('close', () => resolve()));
  const stop = async () => {
    guard.stdin.end();
    await closePromise;
    fs.rmSync(socketFolder, { recursive: true, force: true });
  };
  const lines: string[] = [];
  const problem = await new Promise<string | undefined>((resolve) => {
    guard.once('error', (error) => resolve(error.message));
    guard.once('close', () => resolve(lines.find((line) => /FATAL/.test(line)) ?? lines.at(-1)));
    createInterface({ input: guard.stderr }).on('line', (line) => {
      if (lines.length < 1_000) lines.push(line);
      if (/ready to accept connections/.test(line)) resolve(undefined);
    });
  });
  if (problem !== undefined) {
    await stop();
    throw unavailable(`The restored PostgreSQL does not start: ${problem}`);
  }
  const host = encodeURIComponent(socketFolder);
  return { url: `postgresql://${user}@localhost:5432/${database}?host=${host}`, stop };
}
