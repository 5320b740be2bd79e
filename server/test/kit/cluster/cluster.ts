// Starts a highly available database on one machine. The parts are three PostgreSQL nodes with
// Patroni and synchronous replication, etcd, and HAProxy in front of the primary and the servers.
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import {
  DATABASE,
  haproxyConfiguration,
  type NodeSettings,
  PASSWORD,
  USER,
} from './configuration.ts';
import { loopback, type Network } from './network.ts';
import { createNode, type Node } from './node.ts';
import { postgresBinaries } from './packages.ts';
import { freePorts, hasEnded, start, stop, waitUntil } from './processes.ts';

const NODE_COUNT = 3;
const START_MS = 120_000;
const HEALTHY_MS = 180_000;

/** A node as Patroni reports it. */
export interface Member {
  name: string;
  role: string;
  state: string;
  lag?: number | string;
  timeline?: number;
}

export interface Cluster {
  readonly folder: string;
  readonly nodes: readonly Node[];
  readonly network: Network;
  /** DATABASE_URL of HAProxy. */
  readonly url: string;
  /** DATABASE_URL with all database hosts. */
  readonly hostsUrl: string;
  /** Ports of HAProxy (database and API) and etcd, and ports that are reserved for the servers. */
  readonly port: number;
  readonly apiPort: number;
  readonly etcdPort: number;
  readonly serverPorts: readonly number[];
  /** Returns all nodes, as reported by the first node that responds. Empty if none responds. */
  members(): Promise<Member[]>;
  leader(): Promise<Node>;
  /** Waits for a healthy node with this role. */
  nodeOf(role: 'sync_standby' | 'replica'): Promise<Node>;
  /** Waits until there is a primary with a synchronous replica, and all nodes are healthy. */
  waitUntilHealthy(): Promise<void>;
  /** Makes the synchronous replica the primary. */
  switchover(): Promise<{ from: string; to: string }>;
  readonly etcd: { pid(): number | undefined; start(): void; kill(): Promise<void> };
  proxyPid(): number | undefined;
  stop(): Promise<void>;
}

interface ClusterOptions {
  folder: string;
  network?: Network;
  /** Data folders by index of the node, for tests with a separate file system. */
  dataFolders?: Readonly<Record<number, string>>;
  /** Number of servers behind HAProxy. */
  servers?: number;
}

const isHealthy = ({ role, state }: Member) =>
  role === 'leader' ? state === 'running' : ['running', 'streaming'].includes(state);

async function fetchJson(url: string, init?: RequestInit): Promise<unknown> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(30_000), ...init });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text}`);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function createNodeSettings(
  { folder, network = loopback, dataFolders = {} }: ClusterOptions,
  ports: readonly number[],
): NodeSettings[] {
  return Array.from({ length: NODE_COUNT }, (_, index) => ({
    name: `node${index + 1}`,
    host: network.addressOf(index),
    port: ports[index] as number,
    apiPort: ports[NODE_COUNT + index] as number,
    dataFolder: dataFolders[index] ?? path.join(folder, `node${index + 1}`),
  }));
}

function createEtcd(folder: string, host: string, [port, peerPort]: readonly number[]) {
  let child: ChildProcess | undefined;
  const client = `http://${host}:${port}`;
  const peer = `http://${host}:${peerPort}`;
  const flags = {
    name: 'etcd',
    'data-dir': path.join(folder, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `etcd=${peer}`,
  };
  const pid = () => (child && !hasEnded(child) ? child.pid : undefined);
  return {
    address: `${host}:${port}`,
    pid,
    start() {
      const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
      child = start(['etcd', ...args], { log: path.join(folder, 'etcd.log') });
    },
    kill: async () => {
      const lastPid = pid();
      if (lastPid !== undefined) process.kill(lastPid, 'SIGKILL');
      await waitUntil('the exit of etcd', () => pid() === undefined);
    },
  };
}

/** Creates the user and the database of Railhead on the primary. */
async function createDatabase({ host, port }: NodeSettings): Promise<void> {
  const connectionString = `postgresql://postgres:${PASSWORD}@${host}:${port}/postgres`;
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`create role ${USER} login password '${PASSWORD}'`);
    await client.query(`create database ${DATABASE} owner ${USER}`);
  } finally {
    await client.end();
  }
}

/** Reads the state of the cluster and performs switchovers over the REST API of Patroni. */
function createManagement(nodes: readonly Node[]) {
  async function members(): Promise<Member[]> {
    for (const { host, apiPort } of nodes) {
      try {
        const signal = AbortSignal.timeout(2_000);
        const state = await fetchJson(`http://${host}:${apiPort}/cluster`, { signal });
        return (state as { members: Member[] }).members;
      } catch {
        // The next node may respond.
      }
    }
    return [];
  }
  const findNode = (name?: string) => nodes.find((node) => node.name === name);
  const waitForRole = (role: string) =>
    waitUntil(
      `a node that is ${role}`,
      async () => {
        const member = (await members()).find(
          (member) => member.role === role && isHealthy(member),
        );
        return findNode(member?.name);
      },
      HEALTHY_MS,
    );
  return {
    members,
    leader: () => waitForRole('leader'),
    nodeOf: (role: 'sync_standby' | 'replica') => waitForRole(role),
    async waitUntilHealthy(count = nodes.length) {
      await waitUntil(
        'a healthy cluster',
        async () => {
          const healthyMembers = (await members()).filter(isHealthy);
          const roles = healthyMembers.map(({ role }) => role);
          return (
            healthyMembers.length === count &&
            roles.includes('leader') &&
            roles.includes('sync_standby')
          );
        },
        HEALTHY_MS,
      );
    },
    async switchover() {
      const [from, to] = [await waitForRole('leader'), await waitForRole('sync_standby')];
      const body = JSON.stringify({ leader: from.name, candidate: to.name });
      await fetchJson(`http://${from.host}:${from.apiPort}/switchover`, { method: 'POST', body });
      return { from: from.name, to: to.name };
    },
  };
}

/** Starts all parts except the servers. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, network = loopback, servers = 2 } = options;
  const binaries = postgresBinaries();
  if (!binaries)
    throw new Error('PostgreSQL 15 or later is not installed. Install the package postgresql.');
  fs.chmodSync(folder, 0o755);
  const ports = await freePorts(2 * NODE_COUNT + 4 + servers);
  const [port = 0, apiPort = 0] = ports.slice(2 * NODE_COUNT + 2);
  const serverPorts = ports.slice(2 * NODE_COUNT + 4);
  const etcd = createEtcd(folder, network.host, ports.slice(2 * NODE_COUNT));
  const nodes = createNodeSettings(options, ports).map((settings, index) => {
    const prefix = network.prefixOf(index);
    const nodeOptions = { etcd: etcd.address, binaries, network: network.range, prefix, folder };
    return createNode(index, settings, nodeOptions);
  });
  const management = createManagement(nodes);
  let proxy: ChildProcess | undefined;

  function startProxy(): void {
    const file = path.join(folder, 'haproxy.cfg');
    const targets = serverPorts.map((serverPort, index) => {
      return { name: `server${index + 1}`, host: '127.0.0.1', port: serverPort };
    });
    fs.writeFileSync(file, haproxyConfiguration({ port, apiPort }, nodes, targets));
    proxy = start(['haproxy', '-db', '-f', file], { log: path.join(folder, 'haproxy.log') });
  }

  const proxyPid = () => (proxy && !hasEnded(proxy) ? proxy.pid : undefined);

  async function stopAll(): Promise<void> {
    await stop(proxyPid());
    // Replicas are stopped first, so that none becomes the primary.
    const leaderName = (await management.members()).find(({ role }) => role === 'leader')?.name;
    await Promise.all(nodes.filter(({ name }) => name !== leaderName).map((node) => node.stop()));
    await Promise.all(nodes.map((node) => node.stop()));
    await stop(etcd.pid());
    network.remove();
  }

  const urlPrefix = `postgresql://${USER}:${PASSWORD}`;
  const hosts = nodes.map((node) => `${node.host}:${node.port}`).join(',');
  try {
    etcd.start();
    // The first node becomes the primary. All other nodes are copied from it.
    nodes[0]?.start();
    await waitUntil(
      'the first primary',
      async () => {
        return (await management.members()).some(
          (member) => member.role === 'leader' && isHealthy(member),
        );
      },
      START_MS,
    );
    for (const node of nodes.slice(1)) node.start();
    await management.waitUntilHealthy();
    startProxy();
    await createDatabase(await management.leader());
  } catch (error) {
    await stopAll();
    throw error;
  }
  return {
    ...{ folder, nodes, network, port, apiPort, serverPorts, etcd, proxyPid },
    etcdPort: Number(etcd.address.split(':')[1]),
    url: `${urlPrefix}@127.0.0.1:${port}/${DATABASE}`,
    hostsUrl: `${urlPrefix}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
    ...management,
    stop: stopAll,
  };
}
