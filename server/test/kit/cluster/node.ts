// A database node: Patroni and the PostgreSQL that it starts.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type NodeSettings, patroniConfiguration } from './configuration.ts';
import { isRoot } from './packages.ts';
import { familyOf, hasEnded, postmasterOf, signal, start, stop, waitUntil } from './processes.ts';

/** Debian's package patroni requires the Python of Debian. */
const PATRONI = ['/usr/bin/python3', '/usr/bin/patroni'];

export interface Node extends NodeSettings {
  readonly index: number;
  readonly log: string;
  /** Whether Patroni is running. */
  isRunning(): boolean;
  patroniPid(): number | undefined;
  postmaster(): number | undefined;
  start(): void;
  /** Stops Patroni, which stops its PostgreSQL. */
  stop(): Promise<void>;
  /** kill -9 of PostgreSQL. Patroni restarts it. */
  killPostgres(): void;
  /** kill -9 of Patroni only. */
  killPatroni(): void;
  /** kill -9 of Patroni and PostgreSQL, which simulates a power failure. */
  kill(): Promise<void>;
  /** SIGSTOP to all processes of the node. */
  freeze(): void;
  /** SIGCONT to the frozen processes. */
  unfreeze(): void;
}

interface NodeOptions {
  etcd: string;
  binaries: string;
  network: string;
  prefix: readonly string[];
  folder: string;
}

function createOwnedFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isRoot()) return;
  const { uid, gid } = readPostgresUser();
  fs.chownSync(folder, uid, gid);
}

/** The user that Debian's package postgresql creates. */
function readPostgresUser(): { uid: number; gid: number } {
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (!uid || !gid)
    throw new Error('The user postgres does not exist. Install the package postgresql.');
  return { uid: Number(uid), gid: Number(gid) };
}

export function createNode(index: number, settings: NodeSettings, options: NodeOptions): Node {
  const { folder, prefix } = options;
  const file = path.join(folder, `${settings.name}.yml`);
  const log = path.join(folder, `${settings.name}.log`);
  createOwnedFolder(settings.dataFolder);
  fs.writeFileSync(file, patroniConfiguration(settings, options));
  let patroni: ChildProcess | undefined;
  /** IDs of the frozen processes. They are stored, because the process tree can change. */
  let frozenPids: number[] = [];
  const postmaster = () => postmasterOf(settings.dataFolder);
  const isRunning = () => patroni !== undefined && !hasEnded(patroni);
  const patroniPid = () => (isRunning() ? patroni?.pid : undefined);

  function killPostgres(): void {
    const pid = postmaster();
    if (pid !== undefined) signal(pid, 'SIGKILL');
  }

  function killPatroni(): void {
    const pid = patroniPid();
    if (pid !== undefined) signal(pid, 'SIGKILL');
  }

  const node: Node = {
    ...settings,
    index,
    log,
    isRunning,
    patroniPid,
    postmaster,
    start() {
      if (isRunning()) return;
      patroni = start([...PATRONI, file], {
        log,
        asPostgres: true,
        prefix,
        cwd: settings.dataFolder,
      });
    },
    async stop() {
      node.unfreeze();
      await stop(patroniPid());
      await stop(postmaster(), 'SIGQUIT');
    },
    killPostgres,
    killPatroni,
    async kill() {
      killPatroni();
      killPostgres();
      await waitUntil(
        `the exit of ${settings.name}`,
        () => !isRunning() && postmaster() === undefined,
      );
    },
    freeze() {
      const roots = [patroniPid(), postmaster()].filter((pid) => pid !== undefined);
      frozenPids = roots.flatMap((pid) => familyOf(pid));
      for (const pid of frozenPids) signal(pid, 'SIGSTOP');
    },
    unfreeze() {
      for (const pid of frozenPids.splice(0)) signal(pid, 'SIGCONT');
    },
  };
  return node;
}
