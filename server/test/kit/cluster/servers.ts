// Servers of a cluster. Each has a separate data folder and a port that HAProxy checks.

import { createDataFolder, type DataFolder, type Running } from '../crash/server.ts';
import type { Cluster } from './cluster.ts';

const CLIENT = { id: 'cluster', secret: 'local-cluster-secret' };

export const SERVER_ENV: Readonly<Record<string, string>> = {
  RAILHEAD_MASTER_KEY: '07'.repeat(32),
  RAILHEAD_CLIENT_ID: CLIENT.id,
  RAILHEAD_CLIENT_SECRET: CLIENT.secret,
};

export interface ServerProcess {
  readonly name: string;
  /** DATABASE_URL of the server. */
  readonly databaseUrl: string;
  readonly port: number;
  pid(): number | undefined;
  /** Standard output since the start. */
  output(): string;
  running(): Running | undefined;
  start(): Promise<Running>;
  kill(): Promise<void>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export function createServerProcess(
  name: string,
  { port, databaseUrl, env }: { port: number; databaseUrl: string; env: Record<string, string> },
): ServerProcess {
  const folder: DataFolder = createDataFolder(`cluster-${name}`);
  let runningServer: Running | undefined;
  const child = () => {
    const lastChild = runningServer?.child;
    return lastChild && lastChild.exitCode === null && lastChild.signalCode === null
      ? lastChild
      : undefined;
  };
  return {
    ...{ name, databaseUrl, port },
    pid: () => child()?.pid,
    output: () => (runningServer ? folder.outputOf(runningServer.child).out : ''),
    running: () => runningServer,
    async start() {
      const flags = ['--port', String(port)];
      runningServer = await folder.start(flags, {
        ...SERVER_ENV,
        ...env,
        DATABASE_URL: databaseUrl,
      });
      return runningServer;
    },
    async kill() {
      const lastChild = child();
      if (lastChild) await folder.kill(lastChild, 'node');
    },
    async stop() {
      const lastChild = child();
      if (!lastChild) return;
      lastChild.kill('SIGTERM');
      await folder.waitForExit(lastChild);
    },
    remove: () => folder.remove(),
  };
}

/**
 * Creates the servers. Half of them connect to HAProxy and half to the list of hosts, so that both
 * settings are tested.
 */
export const createServers = (cluster: Cluster, env: Record<string, string>): ServerProcess[] =>
  cluster.serverPorts.map((port, index) => {
    const databaseUrl = index % 2 === 0 ? cluster.url : cluster.hostsUrl;
    return createServerProcess(`server${index + 1}`, { port, databaseUrl, env });
  });

/** Returns a server with the address of HAProxy, which clients use. */
export function serverAtProxy(runningServer: Running, cluster: Cluster): Running {
  const origin = `http://127.0.0.1:${cluster.apiPort}`;
  const { pathname } = new URL(runningServer.credentials.baseUrl);
  const credentials = { ...runningServer.credentials, baseUrl: `${origin}${pathname}` };
  return { child: runningServer.child, origin, credentials };
}
