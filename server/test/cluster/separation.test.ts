// The primary and a server on its machine are separated from the network. The separated server must
// not acknowledge any payment, because another node becomes the primary. The nodes run in network
// namespaces, which require root.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { DATABASE, PASSWORD, USER } from '../kit/cluster/configuration.ts';
import type { Node } from '../kit/cluster/node.ts';
import { freePorts, start, stop, waitUntil } from '../kit/cluster/processes.ts';
import { SERVER_ENV } from '../kit/cluster/servers.ts';
import {
  type ClusterUnderLoad,
  outageLines,
  startClusterUnderLoad,
} from '../kit/cluster/under-load.ts';

describe('a separated primary', () => {
  let fixture: ClusterUnderLoad;
  /** A server on the machine of the primary that connects to the database of this machine only. */
  let isolatedServer: { pid: number; port: number; node: Node; folder: string } | undefined;
  let path = '';
  let body = '';

  beforeAll(async () => {
    fixture = await startClusterUnderLoad({ namespaces: true });
  }, 300_000);

  afterAll(async () => {
    await stop(isolatedServer?.pid);
    if (isolatedServer) fs.rmSync(isolatedServer.folder, { recursive: true, force: true });
    await fixture?.stop();
    for (const line of outageLines()) console.info(line);
  }, 120_000);

  const run = promisify(execFile);

  /**
   * Sends a request from the machine of the isolated server. Returns the status, or 0 without a
   * reply.
   */
  async function request(requestPath: string, key?: string): Promise<number> {
    if (!isolatedServer) throw new Error('the isolated server is not running');
    const { node, port } = isolatedServer;
    const [command = '', ...prefix] = fixture.cluster.network.prefixOf(node.index);
    const credentials = `${SERVER_ENV.RAILHEAD_CLIENT_ID}:${SERVER_ENV.RAILHEAD_CLIENT_SECRET}`;
    const postArgs = [
      '-H',
      `idempotency-key: ${key}`,
      '-H',
      'content-type: application/json',
      '-d',
      body,
    ];
    const url = `http://127.0.0.1:${port}${requestPath}`;
    const curlCommand = [
      'curl',
      '-s',
      '-m',
      '60',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '-u',
      credentials,
    ];
    const args = [...prefix, ...curlCommand, ...(key === undefined ? [] : postArgs), url];
    return run(command, args).then(
      ({ stdout }) => Number(stdout),
      () => 0,
    );
  }

  async function startIsolated(node: Node): Promise<void> {
    const [port = 0] = await freePorts(1);
    const folder = fs.mkdtempSync(`${fixture.cluster.folder}/isolated-`);
    const env = {
      ...SERVER_ENV,
      DATABASE_URL: `postgresql://${USER}:${PASSWORD}@${node.host}:${node.port}/${DATABASE}`,
      ...{ RAILHEAD_SAMPLE_CUSTOMER: 'none', RAILHEAD_CONSOLE: 'off', LOG_LEVEL: 'error' },
      HOME: folder,
    };
    const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const file = `${projectRoot()}/server/bin/railhead-server.js`;
    const serverCommand = [
      process.execPath,
      file,
      'start',
      '--port',
      String(port),
      '--data-dir',
      folder,
    ];
    const child = start(['env', ...assignments, ...serverCommand], {
      log: `${folder}/server.log`,
      prefix: fixture.cluster.network.prefixOf(node.index),
      cwd: projectRoot(),
    });
    isolatedServer = { pid: child.pid as number, port, node, folder };
    await waitUntil('the isolated server', async () => (await request('/readyz')) === 200);
  }

  it('acknowledges no payment, and another node becomes the primary', async () => {
    const primary = await fixture.cluster.leader();
    await startIsolated(primary);
    const [sentRequest] = fixture.load.requests.filter(
      (request) => request.kind === 'transfer' && request.response?.status === 201,
    );
    if (!sentRequest) throw new Error('the load has no successful transfer to repeat');
    path = `/2025-10-13${sentRequest.path}`;
    body = JSON.stringify({
      ...{ ...sentRequest.body, amount: 1_00 },
      remittanceInformation: 'by the isolated server',
    });
    expect(await request(path, randomUUID())).toBe(201);
    const keys = Array.from({ length: 5 }, () => randomUUID());
    const statuses: number[] = [];
    await fixture.disrupt(
      'separation of the primary',
      async () => {
        fixture.cluster.network.setConnected(primary.index, false);
        await sleep(1_000);
        // The first payments wait for the replica. Later payments are rejected, because the server is not
        // ready.
        void Promise.all(keys.map(async (key) => statuses.push(await request(path, key))));
      },
      45_000,
    );
    await waitUntil('completion of the payments', () => statuses.length === keys.length, 90_000);
    expect(statuses.filter((status) => status < 500 && status !== 0)).toEqual([]);
    expect((await fixture.cluster.leader()).name).not.toBe(primary.name);
    // Repeated requests are not acknowledged either, although the separated database may have
    // stored the payments.
    for (const key of keys) expect([0, 500, 503]).toContain(await request(path, key));
    expect(await request('/readyz')).toBe(503);
    fixture.cluster.network.setConnected(primary.index, true);
    await stop(isolatedServer?.pid);
    await fixture.cluster.waitUntilHealthy();
    await fixture.audit();
  }, 400_000);

  it('preserves all acknowledged payments without duplicates and delivers all events', async () => {
    await fixture.finish();
  }, 600_000);
});
