// One database node: Patroni, and the PostgreSQL that it starts.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type NodePlace, patroniConfiguration } from './configuration.ts';
import { isRoot } from './packages.ts';
import { familyOf, hasEnded, postmasterOf, signal, start, stop, until } from './processes.ts';

/** Debian's own Python must run it. */
const PATRONI = ['/usr/bin/python3', '/usr/bin/patroni'];

export interface Node extends NodePlace {
  readonly index: number;
  readonly log: string;
  /** Whether Patroni runs. */
  isRunning(): boolean;
  patroniPid(): number | undefined;
  postmaster(): number | undefined;
  start(): void;
  /** Ends Patroni, which stops its PostgreSQL. */
  stop(): Promise<void>;
  /** kill -9 of PostgreSQL; Patroni starts it again. */
  killPostgres(): void;
  /** kill -9 of Patroni alone. */
  killPatroni(): void;
  /** kill -9 of Patroni and of PostgreSQL, as if the machine had lost its power. */
  kill(): Promise<void>;
  /** Stops all processes of the node in the middle of their work, or lets them continue. */
  freeze(): void;
  thaw(): void;
}

interface NodeOptions {
  etcd: string;
  binaries: string;
  network: string;
  prefix: readonly string[];
  folder: string;
}

function makeOwned(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isRoot()) return;
  const { uid, gid } = postgresUser();
  fs.chownSync(folder, uid, gid);
}

/** The user that Debian's package creates. */
function postgresUser(): { uid: number; gid: number } {
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (!uid || !gid) throw new Error('There is no user `postgres`.');
  return { uid: Number(uid), gid: Number(gid) };
}

export function createNode(index: number, place: NodePlace, options: NodeOptions): Node {
  const { folder, prefix } = options;
  const file = path.join(folder, `${place.name}.yml`);
  const log = path.join(folder, `${place.name}.log`);
  makeOwned(place.dataFolder);
  fs.writeFileSync(file, patroniConfiguration(place, options));
  let patroni: ChildProcess | undefined;
  /** Processes that are stopped: those of a node cannot be found by their parent alone. */
  let frozen: number[] = [];
  const postmaster = () => postmasterOf(place.dataFolder);
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
    ...place,
    index,
    log,
    isRunning,
    patroniPid,
    postmaster,
    start() {
      if (isRunning()) return;
      patroni = start([...PATRONI, file], { log, asPostgres: true, prefix, cwd: place.dataFolder });
    },
    async stop() {
      node.thaw();
      await stop(patroniPid());
      await stop(postmaster(), 'SIGQUIT');
    },
    killPostgres,
    killPatroni,
    async kill() {
      killPatroni();
      killPostgres();
      await until(`the end of ${place.name}`, () => !isRunning() && postmaster() === undefined);
    },
    freeze() {
      const roots = [patroniPid(), postmaster()].filter((pid) => pid !== undefined);
      frozen = roots.flatMap((pid) => familyOf(pid));
      for (const pid of frozen) signal(pid, 'SIGSTOP');
    },
    thaw() {
      for (const pid of frozen.splice(0)) signal(pid, 'SIGCONT');
    },
  };
  return node;
}
