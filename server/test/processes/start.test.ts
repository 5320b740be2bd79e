// The start of a server process: printed URLs, the command, readiness and the sample customer.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createTestDatabase } from '../kit/app/database.ts';
import { createDataFolder, type DataFolder } from '../kit/crash/server.ts';

const dataFolders: DataFolder[] = [];

function createFolder(): DataFolder {
  const folder = createDataFolder('start');
  dataFolders.push(folder);
  return folder;
}

afterAll(async () => {
  await Promise.all(dataFolders.map((dataFolder) => dataFolder.remove()));
}, 60_000);

async function findFreePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitForResult<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 0; attempts < 6_000; attempts++) {
    const result = await read().catch(() => undefined);
    if (result !== undefined) return result;
    await sleep(10);
  }
  throw new Error('no result after 60 seconds');
}

/** Starts a server, checks the URLs that it prints, and stops it. Returns its origin. */
async function startAndCheck(folder: DataFolder, flags: string[]): Promise<string> {
  const { child, origin, credentials } = await folder.start(flags);
  expect(credentials.docsUrl).toBe(`${origin}/docs`);
  expect(folder.outputOf(child).err).toContain(`Base URL       ${origin}/`);
  for (const host of [new URL(origin).host, `127.0.0.1:${new URL(origin).port}`]) {
    expect((await fetch(`http://${host}/healthz`)).status).toBe(200);
  }
  const basic = Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`);
  const createResponse = await fetch(`${credentials.baseUrl}/invitations`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Basic ${basic.toString('base64')}`, 'content-type': 'application/json' },
    },
    body: JSON.stringify({ inviterUma: await createInviter(credentials.baseUrl, basic) }),
  });
  expect(((await createResponse.json()) as { url: string }).url).toMatch(`${origin}/i/`);
  child.kill('SIGTERM');
  expect(await folder.waitForExit(child)).toMatchObject({ code: 0 });
  return origin;
}

async function createInviter(baseUrl: string, basic: Buffer): Promise<string> {
  const reply = await fetch(`${baseUrl}/customers`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Basic ${basic.toString('base64')}`, 'content-type': 'application/json' },
    },
    body: JSON.stringify({ customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' }),
  });
  return ((await reply.json()) as { umaAddress: string }).umaAddress;
}

/** Whether this machine has the IPv6 loopback address. */
const hasIpv6 = Object.values(os.networkInterfaces()).some((networkInterface) =>
  networkInterface?.some(({ address }) => address === '::1'),
);

describe('a start on loopback', () => {
  it.each([[[]], [['--host', 'localhost']]])(
    'prints localhost: %j',
    async (flags) => {
      expect(await startAndCheck(createFolder(), flags)).toMatch(/^http:\/\/localhost:\d+$/);
    },
    90_000,
  );

  it.runIf(hasIpv6)(
    'serves the IPv6 loopback address, and prints the IPv4 address if another program uses the ' +
      'IPv6 address',
    async () => {
      const folder = createFolder();
      const server = await folder.start();
      const { port } = new URL(server.origin);
      const socket = net.connect(Number(port), '::1');
      await once(socket, 'connect');
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const [chunk] = await once(socket, 'data');
      expect(String(chunk)).toMatch(/^HTTP\/1\.1 200 /);
      // The open connection of the server does not delay the stop.
      const sentMs = performance.now();
      server.child.kill('SIGTERM');
      expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0 });
      expect(performance.now() - sentMs).toBeLessThan(4_000);
      const otherServer = net.createServer().listen(Number(port), '::1');
      await once(otherServer, 'listening');
      try {
        expect(await startAndCheck(folder, ['--port', port])).toBe(`http://127.0.0.1:${port}`);
      } finally {
        otherServer.close();
      }
    },
    90_000,
  );
});

describe('railhead-server', () => {
  const command = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');

  it('starts the server, and is the command in package.json', async () => {
    const { bin } = JSON.parse(
      fs.readFileSync(path.join(projectRoot(), 'server', 'package.json'), 'utf8'),
    );
    expect(bin).toEqual({ 'railhead-server': 'bin/railhead-server.js' });
    const folder = createFolder();
    const server = await folder.waitUntilReady(folder.launch([], {}, [command, 'start']));
    expect((await fetch(server.credentials.docsUrl)).status).toBe(200);
    server.child.kill('SIGTERM');
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
  }, 90_000);

  it.each([['--version'], ['start', '--version']])(
    'prints the version: %s %s',
    async (...args) => {
      const { stdout } = await promisify(execFile)(process.execPath, [command, ...args]);
      expect(stdout).toMatch(/^railhead-server \d+\.\d+\.\d+\n$/);
    },
    60_000,
  );

  it('is the command of npm run railhead', () => {
    const { scripts } = JSON.parse(
      fs.readFileSync(path.join(projectRoot(), 'package.json'), 'utf8'),
    );
    expect(path.resolve(projectRoot(), scripts.railhead.split(' ')[1])).toBe(command);
  });
});

describe('/readyz during the start', () => {
  it('returns 503 until credentials.json is written', async () => {
    const folder = createFolder();
    const database = await createTestDatabase();
    const lockingClient = new pg.Client({ connectionString: database.url });
    await lockingClient.connect();
    try {
      // The lock delays the creation of the first platform.
      await lockingClient.query('begin; lock table bootstrap_steps in access exclusive mode');
      const port = await findFreePort();
      const child = folder.launch(['--port', String(port)], { DATABASE_URL: database.url });
      const readReadiness = () => fetch(`http://127.0.0.1:${port}/readyz`);
      const startingReply = await waitForResult(readReadiness);
      expect([startingReply.status, await startingReply.json()]).toEqual([
        503,
        { status: 'starting' },
      ]);
      expect(fs.existsSync(path.join(folder.dir, 'credentials.json'))).toBe(false);
      await lockingClient.query('rollback');
      await folder.waitUntilReady(child);
      expect((await readReadiness()).status).toBe(200);
      child.kill('SIGTERM');
      expect(await folder.waitForExit(child)).toMatchObject({ code: 0 });
    } finally {
      await lockingClient.end();
      await database.drop();
    }
  }, 90_000);
});

describe('the sample customer', () => {
  it('can be removed while it is created', async () => {
    const folder = createFolder();
    const database = await createTestDatabase();
    const lockingClient = new pg.Client({ connectionString: database.url });
    await lockingClient.connect();
    try {
      // The lock delays the first external account of the customer until the reset waits too.
      await lockingClient.query('begin; lock table external_accounts in access exclusive mode');
      const { child, credentials } = await folder.start([], {
        DATABASE_URL: database.url,
        RAILHEAD_SAMPLE_CUSTOMER: 'create',
      });
      const basic = Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`);
      const headers = { authorization: `Basic ${basic.toString('base64')}` };
      const waitingLocksSql = `select 1 from pg_locks
        where not granted and relation = 'external_accounts'::regclass`;
      await waitForResult(async () =>
        (await lockingClient.query(waitingLocksSql)).rowCount ? true : undefined,
      );
      const resetReply = fetch(`${credentials.baseUrl}/sandbox/reset`, { method: 'POST', headers });
      await waitForResult(async () =>
        (await lockingClient.query(waitingLocksSql)).rowCount === 2 ? true : undefined,
      );
      await lockingClient.query('rollback');
      expect((await resetReply).status).toBe(200);
      await waitForResult(async () =>
        folder.outputOf(child).out.includes('sample customer is incomplete') ? true : undefined,
      );
      expect((await fetch(`${credentials.baseUrl}/config`, { headers })).status).toBe(200);
      child.kill('SIGTERM');
      expect(await folder.waitForExit(child)).toMatchObject({ code: 0 });
    } finally {
      await lockingClient.end();
      await database.drop();
    }
  }, 90_000);
});
