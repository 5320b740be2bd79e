// The primary is cut off from everything else, together with a server on its machine. That server must
// acknowledge nothing: what it commits exists nowhere else, and another node becomes the primary. The
// nodes run in network namespaces of this test, which need root.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { DATABASE, PASSWORD, USER } from '../kit/cluster/configuration.ts';
import type { Node } from '../kit/cluster/node.ts';
import { isRoot } from '../kit/cluster/packages.ts';
import { freePorts, start, stop, until } from '../kit/cluster/processes.ts';
import { SERVER_ENV } from '../kit/cluster/servers.ts';
import {
  type ClusterUnderLoad,
  outageLines,
  startClusterUnderLoad,
} from '../kit/cluster/under-load.ts';

const problem = isRoot() ? undefined : 'network namespaces need root';

describe.skipIf(problem)(
  `a primary that is cut off${problem ? ` (skipped: ${problem})` : ''}`,
  () => {
    let world: ClusterUnderLoad;
    /** A server on the machine of the primary, which uses that database alone. */
    let isolated: { pid: number; port: number; node: Node; folder: string } | undefined;
    let path = '';
    let body = '';

    beforeAll(async () => {
      world = await startClusterUnderLoad({ namespaces: true });
    }, 300_000);

    afterAll(async () => {
      await stop(isolated?.pid);
      if (isolated) fs.rmSync(isolated.folder, { recursive: true, force: true });
      await world?.stop();
      for (const line of outageLines()) console.info(line);
    }, 120_000);

    const run = promisify(execFile);

    /** A request from the machine of the isolated server; the status, 0 without a reply. */
    async function ask(requestPath: string, key?: string): Promise<number> {
      if (!isolated) throw new Error('no server runs there');
      const { node, port } = isolated;
      const [ip = '', ...prefix] = world.cluster.network.prefixOf(node.index);
      const login = `${SERVER_ENV.RAILHEAD_CLIENT_ID}:${SERVER_ENV.RAILHEAD_CLIENT_SECRET}`;
      const post = [
        '-H',
        `idempotency-key: ${key}`,
        '-H',
        'content-type: application/json',
        '-d',
        body,
      ];
      const url = `http://127.0.0.1:${port}${requestPath}`;
      const curl = ['curl', '-s', '-m', '60', '-o', '/dev/null', '-w', '%{http_code}', '-u', login];
      const words = [...prefix, ...curl, ...(key === undefined ? [] : post), url];
      return run(ip, words).then(
        ({ stdout }) => Number(stdout),
        () => 0,
      );
    }

    async function startBeside(node: Node): Promise<void> {
      const [port = 0] = await freePorts(1);
      const folder = fs.mkdtempSync(`${world.cluster.folder}/isolated-`);
      const env = {
        ...SERVER_ENV,
        DATABASE_URL: `postgresql://${USER}:${PASSWORD}@${node.host}:${node.port}/${DATABASE}`,
        ...{ RAILHEAD_SAMPLE_CUSTOMER: 'none', RAILHEAD_CONSOLE: 'off', LOG_LEVEL: 'error' },
        HOME: folder,
      };
      const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const file = `${projectRoot()}/server/bin/railhead-server.js`;
      const server = [
        process.execPath,
        file,
        'start',
        '--port',
        String(port),
        '--data-dir',
        folder,
      ];
      const child = start(['env', ...assignments, ...server], {
        log: `${folder}/server.log`,
        prefix: world.cluster.network.prefixOf(node.index),
        cwd: projectRoot(),
      });
      isolated = { pid: child.pid as number, port, node, folder };
      await until('the server beside the primary', async () => (await ask('/readyz')) === 200);
    }

    it('acknowledges nothing, and another node becomes the primary', async () => {
      const primary = await world.cluster.leader();
      await startBeside(primary);
      const [sent] = world.load.requests.filter(
        (each) => each.kind === 'transfer' && each.response?.status === 201,
      );
      if (!sent) throw new Error('no payment was sent');
      path = `/2025-10-13${sent.path}`;
      body = JSON.stringify({
        ...{ ...sent.body, amount: 1_00 },
        remittanceInformation: 'beside the primary',
      });
      const before = randomUUID();
      expect(await ask(path, before)).toBe(201);
      const keys = Array.from({ length: 5 }, () => randomUUID());
      const statuses: number[] = [];
      await world.disturb(
        'the primary cut off',
        async () => {
          world.cluster.network.setConnected(primary.index, false);
          await sleep(1_000);
          // The first payments wait for the replica; the next ones find the server not ready.
          void Promise.all(keys.map(async (key) => statuses.push(await ask(path, key))));
        },
        45_000,
      );
      await until('the end of the payments', () => statuses.length === keys.length, 90_000);
      expect(statuses.filter((status) => status < 500 && status !== 0)).toEqual([]);
      expect((await world.cluster.leader()).name).not.toBe(primary.name);
      // Repeated, they are still not acknowledged, although this database may have stored them.
      for (const key of keys) expect([0, 500, 503]).toContain(await ask(path, key));
      expect(await ask('/readyz')).toBe(503);
      world.cluster.network.setConnected(primary.index, true);
      await stop(isolated?.pid);
      await world.cluster.settled();
      await world.audit();
    }, 400_000);

    it('has acknowledged nothing that is lost or doubled, and delivers every event', async () => {
      await world.finish();
    }, 600_000);
  },
);
