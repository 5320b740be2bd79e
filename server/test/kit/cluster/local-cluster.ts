// `npm run cluster` starts a local cluster and runs until it is interrupted. Further calls with a
// command, such as `status` or `kill node1`, are sent to this process, which has the IDs of all
// other processes.
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { type Cluster, type Member, startCluster } from './cluster.ts';
import type { Node } from './node.ts';
import { ensurePackages } from './packages.ts';
import { createServers, SERVER_ENV, type ServerProcess } from './servers.ts';

const USAGE = `npm run cluster                      start the cluster and run it until Ctrl-C
npm run cluster -- status            show the processes with their ports and roles
npm run cluster -- switchover        make the synchronous replica the primary
npm run cluster -- kill NAME         kill -9 of a node, etcd, a server, or PostgreSQL of the \`primary\`
npm run cluster -- freeze NAME       suspend all processes of a node (SIGSTOP)
npm run cluster -- start NAME        start a killed process, or resume a frozen node`;

const print = (line: string) => void process.stderr.write(`${line}\n`);

const stateFile = () => path.join(os.tmpdir(), `railhead-cluster-${process.getuid?.() ?? 0}.json`);

interface LocalCluster {
  cluster: Cluster;
  servers: readonly ServerProcess[];
}

type Row = readonly string[];

/** Formats rows as a table with aligned columns. */
function formatTable(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const ROLES: Readonly<Record<string, string>> = {
  leader: 'primary',
  sync_standby: 'synchronous replica',
  replica: 'replica',
};

function roleOf(node: Node, members: readonly Member[]): string {
  const member = members.find(({ name }) => name === node.name);
  if (!node.isRunning() || !member) return 'stopped';
  return `${ROLES[member.role] ?? member.role}, ${member.state}`;
}

const pidText = (pid: number | undefined) => (pid === undefined ? '-' : String(pid));

async function readReadiness(server: ServerProcess): Promise<string> {
  try {
    const reply = await fetch(`http://127.0.0.1:${server.port}/readyz`, {
      signal: AbortSignal.timeout(2_000),
    });
    return (await reply.text()).replaceAll(/[{}"]|status:/g, '');
  } catch {
    return 'no response';
  }
}

async function statusText({ cluster, servers }: LocalCluster): Promise<string> {
  const members = await cluster.members();
  const states = await Promise.all(servers.map(readReadiness));
  const { etcd, etcdPort, apiPort, port } = cluster;
  const login = '-u cluster:local-cluster-secret';
  return formatTable([
    ['PROCESS', 'PID', 'PORT', 'ROLE', 'ADDRESS'],
    ...cluster.nodes.map((node) => [
      ...[node.name, pidText(node.patroniPid()), String(node.port), roleOf(node, members)],
      `http://${node.host}:${node.apiPort}/cluster`,
    ]),
    ['etcd', pidText(etcd.pid()), String(etcdPort), 'stores the state of the cluster', ''],
    ['haproxy', pidText(cluster.proxyPid()), String(port), 'routes to the primary', cluster.url],
    ['', '', String(apiPort), 'routes to ready servers', `curl ${login} ${apiUrl(cluster)}`],
    ...servers.map((server, index) => [
      ...[server.name, pidText(server.pid()), String(server.port), states[index] ?? ''],
      `http://127.0.0.1:${server.port}/docs`,
    ]),
  ]);
}

const apiUrl = ({ apiPort }: Cluster) => `http://127.0.0.1:${apiPort}/2025-10-13/config`;

/** Returns the actions of a process by the name that `status` shows. */
function actionsOf({ cluster, servers }: LocalCluster, name: string) {
  const node = cluster.nodes.find((node) => node.name === name);
  if (node) {
    const start = () => {
      node.unfreeze();
      node.start();
    };
    return { kill: () => node.kill(), start, freeze: () => node.freeze() };
  }
  const server = servers.find((server) => server.name === name);
  if (server) return { kill: () => server.kill(), start: () => server.start() };
  if (name === 'etcd') return { kill: () => cluster.etcd.kill(), start: cluster.etcd.start };
  const kill = async () => (await cluster.leader()).killPostgres();
  return name === 'primary' ? { kill, start: () => undefined } : undefined;
}

async function perform(
  localCluster: LocalCluster,
  [verb, name]: readonly string[],
): Promise<string> {
  if (verb === 'status' && name === undefined) return statusText(localCluster);
  if (verb === 'switchover' && name === undefined) {
    const { from, to } = await localCluster.cluster.switchover();
    return `The primary was ${from} and is ${to}.`;
  }
  const target: { kill?: unknown; start?: unknown; freeze?: unknown } =
    (name !== undefined && actionsOf(localCluster, name)) || {};
  const action =
    verb === 'kill' || verb === 'start' || verb === 'freeze' ? target[verb] : undefined;
  if (typeof action !== 'function') return USAGE;
  await action();
  return `${verb} ${name}: done. Show the result with npm run cluster -- status.`;
}

/** Performs the commands of other calls. Returns a function that stops listening. */
async function listen(localCluster: LocalCluster): Promise<() => void> {
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      const command = JSON.parse(Buffer.concat(chunks).toString()) as string[];
      response.end(await perform(localCluster, command));
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  fs.writeFileSync(stateFile(), JSON.stringify({ port }), { mode: 0o600 });
  return () => {
    fs.rmSync(stateFile(), { force: true });
    server.closeAllConnections();
    server.close();
  };
}

/** Sends a command to the running cluster. Returns the exit code. */
async function sendCommand(command: readonly string[]): Promise<number> {
  try {
    const { port } = JSON.parse(fs.readFileSync(stateFile(), 'utf8')) as { port: number };
    const reply = await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST',
      body: JSON.stringify(command),
    });
    process.stdout.write(`${await reply.text()}\n`);
    return reply.ok ? 0 : 1;
  } catch {
    print('No cluster is running. Start one with `npm run cluster`.');
    return 1;
  }
}

async function run(): Promise<number> {
  const problem = ensurePackages(print);
  if (problem) {
    print(problem);
    return 1;
  }
  const interruption = new AbortController();
  const whenInterrupted = once(interruption.signal, 'abort');
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => interruption.abort());
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-cluster-'));
  let cluster: Cluster | undefined;
  let servers: ServerProcess[] = [];
  let close: (() => void) | undefined;
  try {
    print('Starting etcd, three databases and HAProxy …');
    cluster = await startCluster({ folder });
    servers = createServers(cluster, { LOG_LEVEL: 'error' });
    for (const server of servers) {
      if (interruption.signal.aborted) break;
      print(`Starting ${server.name} …`);
      await server.start();
    }
    close = await listen({ cluster, servers });
    print(`\n${await statusText({ cluster, servers })}\n`);
    print(`Master key of the servers: ${SERVER_ENV.RAILHEAD_MASTER_KEY}`);
    print(`Logs: ${folder}\n\n${USAGE}\n`);
    if (!interruption.signal.aborted) await whenInterrupted;
  } finally {
    print('Stopping …');
    close?.();
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all(servers.map((server) => server.remove()));
    await cluster?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
  print('Stopped. All data was deleted.');
  return 0;
}

export async function main(args: readonly string[]): Promise<number> {
  if (args.length === 0) return run();
  if (args[0] === '--help') {
    print(USAGE);
    return 0;
  }
  return sendCommand(args);
}
