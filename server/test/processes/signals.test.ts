// The server process: settings, signals, exit codes, a second start, and another server on the same
// machine. Every server here is a real process.
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type Credentials,
  createDataFolder,
  type DataFolder,
  type Running,
} from '../kit/crash/server.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const dataFolders: DataFolder[] = [];

function createFolder(): DataFolder {
  const createdFolder = createDataFolder('signals');
  dataFolders.push(createdFolder);
  return createdFolder;
}

afterAll(async () => {
  await Promise.all(dataFolders.map((dataFolder) => dataFolder.remove()));
}, 60_000);

async function call(server: Running, method: string, path: string, body?: object) {
  const { clientId, clientSecret, baseUrl } = server.credentials;
  return callAs({ clientId, clientSecret }, baseUrl, method, path, body);
}

async function callAs(
  caller: Pick<Credentials, 'clientId' | 'clientSecret'>,
  baseUrl: string,
  method: string,
  route: string,
  body?: object,
) {
  const basic = Buffer.from(`${caller.clientId}:${caller.clientSecret}`).toString('base64');
  const reply = await fetch(`${baseUrl}${route}`, {
    method,
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  return { status: reply.status, body: (await reply.json()) as any };
}

const storedCredentials = (folder: DataFolder) =>
  JSON.parse(fs.readFileSync(path.join(folder.dir, 'credentials.json'), 'utf8')) as Credentials;

describe('a running server', () => {
  let folder: DataFolder;
  let server: Running;
  beforeAll(async () => {
    folder = createFolder();
    server = await folder.start();
  }, 90_000);

  it('stores its credentials readable by their owner only', () => {
    const file = path.join(folder.dir, 'credentials.json');
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(storedCredentials(folder)).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/localhost:\d+\/2025-10-13$/),
      clientId: expect.stringMatching(/^\S{8,}$/),
      clientSecret: expect.stringMatching(/^\S{16,}$/),
      webhookPublicKey: expect.stringContaining('BEGIN PUBLIC KEY'),
      docsUrl: `${server.origin}/docs`,
    });
  });

  it.each([
    ['/healthz', 'application/json', '"ok"'],
    ['/readyz', 'application/json', '"ready"'],
    ['/metrics', 'text/plain', '# TYPE '],
    ['/openapi.json', 'application/json', '"executeQuote"'],
    ['/docs/reference', 'text/html', '/docs/reference/viewer.js'],
    ['/docs/reference/viewer.js', 'text/javascript', 'createApiReference'],
    ['/docs/reference/start.js', 'text/javascript', '/openapi.json'],
  ])('serves %s without credentials', async (path, type, expectedText) => {
    const reply = await fetch(`${server.origin}${path}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain(type);
    expect(await reply.text()).toContain(expectedText);
  });

  it('prints a curl line that works when pasted', async () => {
    const { clientId, clientSecret, baseUrl } = server.credentials;
    const line = `curl -u '${clientId}:${clientSecret}' ${baseUrl}/platform/internal-accounts`;
    expect(folder.outputOf(server.child).err).toContain(line);
    const { status, body } = await call(server, 'GET', '/platform/internal-accounts');
    expect(status).toBe(200);
    expect(body.data.length).toBeGreaterThan(0);
  });

  it('has exclusive use of its data folder', async () => {
    const { code, err } = await folder.waitForExit(folder.launch());
    expect(code).toBe(1);
    expect(err).toMatch(/\nThe data folder \S+ is already served by a running PostgreSQL .*\n$/);
    expect((await call(server, 'GET', '/config')).status).toBe(200);
    expect(storedCredentials(folder)).toEqual(server.credentials);
  }, 30_000);

  it('runs independently of another server', async () => {
    const otherFolder = createFolder();
    const otherServer = await otherFolder.start();
    expect(otherServer.origin).not.toBe(server.origin);
    expect((await call(otherServer, 'GET', '/config')).status).toBe(200);
    expect(
      (await callAs(server.credentials, otherServer.credentials.baseUrl, 'GET', '/config')).status,
    ).toBe(401);
    expect((await call(server, 'GET', '/config')).status).toBe(200);
    otherServer.child.kill('SIGINT');
    expect(await otherFolder.waitForExit(otherServer.child)).toMatchObject({
      code: 0,
      signal: null,
    });
    expect(await otherFolder.remainingProcesses()).toEqual([]);
    expect((await call(server, 'GET', '/config')).status).toBe(200);
  }, 90_000);
});

const WAIT_OPTIONS = { timeout: 30_000, interval: 20 };

/** Replaces the reply of a server that is unreachable or accepts no more requests. */
const UNREACHABLE = { status: 503 };

const countCustomers = async (server: Running): Promise<number> =>
  (await call(server, 'GET', '/customers?limit=1')).body.totalCount;

/** Waits until the server accepts no new request. */
async function waitUntilClosed(server: Running): Promise<void> {
  for (let attempts = 0; attempts < 500; attempts++) {
    const status = await fetch(`${server.origin}/healthz`).then(
      (reply) => reply.status,
      () => 503,
    );
    if (status === 503) return;
    await sleep(10);
  }
  throw new Error('the server still accepts requests after 5 seconds');
}

describe('SIGTERM', () => {
  let folder: DataFolder;
  let receiver: Receiver;
  beforeAll(async () => {
    folder = createFolder();
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  it('completes the current request, exits with 0 and stops the database', async () => {
    const server = await folder.start();
    const customer = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
    expect((await call(server, 'POST', '/customers', customer)).status).toBe(201);
    const configResponse = await call(server, 'PATCH', '/config', {
      webhookEndpoint: receiver.url,
    });
    expect(configResponse.status).toBe(200);
    await receiver.has(1);
    let reply = () => undefined as unknown;
    receiver.behave((response) => {
      reply = () => response.writeHead(202).end('late');
    });
    const pendingWebhookTest = call(server, 'POST', '/webhooks/test', {});
    await receiver.has(2);
    server.child.kill('SIGTERM');
    await waitUntilClosed(server);
    expect(server.child.exitCode).toBe(null);
    reply();
    receiver.behave(200);
    expect(await pendingWebhookTest).toMatchObject({ status: 200, body: { response_status: 202 } });
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    expect(await folder.remainingProcesses()).toEqual([]);
  }, 90_000);

  it('keeps data and credentials for the next start', async () => {
    const credentialsBefore = storedCredentials(folder);
    const server = await folder.start();
    const { baseUrl, docsUrl, ...persistentCredentials } = credentialsBefore;
    expect(server.credentials).toMatchObject(persistentCredentials);
    const { body } = await call(server, 'GET', '/customers');
    expect(body.data.map((customer: { fullName: string }) => customer.fullName)).toEqual([
      'Ada Lovelace',
    ]);
    expect((await call(server, 'GET', '/config')).body.webhookEndpoint).toBe(receiver.url);
    server.child.kill('SIGTERM');
    server.child.kill('SIGTERM'); // A second signal has no effect.
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    expect(await folder.remainingProcesses()).toEqual([]);
  }, 90_000);

  it('does not wait for a receiver that never replies, and delivers again later', async () => {
    receiver.behave(() => undefined);
    const server = await folder.start();
    const { body } = await call(server, 'GET', '/platform/internal-accounts?currency=USD');
    const fundPath = `/sandbox/internal-accounts/${body.data[0].id}/fund`;
    expect((await call(server, 'POST', fundPath, { amount: 100 })).status).toBe(200);
    const deliveries = () =>
      receiver.arrivals.filter(({ type }) => type === 'INCOMING_PAYMENT.COMPLETED');
    await vi.waitUntil(() => deliveries().length === 1, WAIT_OPTIONS);
    server.child.kill('SIGTERM');
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    receiver.behave(200);
    const nextServer = await folder.start();
    await vi.waitUntil(() => deliveries().length === 2, WAIT_OPTIONS);
    const [firstDelivery, repeatedDelivery] = deliveries();
    expect(repeatedDelivery?.body).toBe(firstDelivery?.body);
    nextServer.child.kill('SIGTERM');
    expect(await folder.waitForExit(nextServer.child)).toMatchObject({ code: 0, signal: null });
  }, 90_000);

  it('replies to every request that it executes, under load', async () => {
    const server = await folder.start([], { LOG_LEVEL: 'error' });
    const countBefore = await countCustomers(server);
    let replyCount = 0;
    let isStopped = false;
    const sendUntilStopped = async () => {
      while (!isStopped) {
        const body = { customerType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
        const { status } = await call(server, 'POST', '/customers', body).catch(() => UNREACHABLE);
        if (status === 201) replyCount++;
        if (status === UNREACHABLE.status) isStopped = true;
      }
    };
    const clients = Array.from({ length: 16 }, sendUntilStopped);
    await vi.waitUntil(() => replyCount > 32, WAIT_OPTIONS);
    server.child.kill('SIGTERM');
    await Promise.all(clients);
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    expect(replyCount).toBeGreaterThan(16);
    const nextServer = await folder.start();
    expect(await countCustomers(nextServer)).toBe(countBefore + replyCount);
    nextServer.child.kill('SIGTERM');
    expect(await folder.waitForExit(nextServer.child)).toMatchObject({ code: 0, signal: null });
  }, 90_000);

  it('stops an idle server immediately, regardless of open connections', async () => {
    const server = await folder.start();
    expect((await call(server, 'GET', '/config')).status).toBe(200); // `fetch` keeps its connection open.
    const idleSocket = net.connect(Number(new URL(server.origin).port), '127.0.0.1');
    idleSocket.on('error', () => undefined);
    await once(idleSocket, 'connect');
    const signaledAt = performance.now();
    server.child.kill('SIGTERM');
    expect(await folder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - signaledAt).toBeLessThan(10_000);
  }, 90_000);
});

describe('an invalid setting', () => {
  const collectStartErrors = async (flags: string[], env: Record<string, string> = {}) => {
    const folder = createFolder();
    const exit = await folder.waitForExit(folder.launch(flags, env));
    expect(fs.existsSync(folder.dir)).toBe(false);
    const { code, out, err } = exit;
    return { code, out, lines: err.split('\n').filter((line) => !/^Buil(t|ding)/.test(line)) };
  };

  it('prints one line for each invalid setting, and exits with code 2', async () => {
    const env = { LOG_LEVEL: 'loud', RAILHEAD_SERVICE_WORD: 'lower', DATABASE_URL: 'mysql://x' };
    const { code, out, lines } = await collectStartErrors(
      ['--port', '70000', '--hots', '::1'],
      env,
    );
    expect([code, out]).toEqual([2, '']);
    expect(lines).toEqual([
      '--hots is not a setting. Nearest match: --host. Try --help.',
      '--port must be a whole number from 0 to 65535.',
      'DATABASE_URL must look like postgresql://user:password@host:5432/database.',
      'RAILHEAD_SERVICE_WORD must be a capital letter and up to 31 letters or digits.',
      expect.stringMatching(/^LOG_LEVEL must be one of /),
      '',
    ]);
  }, 60_000);

  it('is reported without its value if it is secret', async () => {
    const { code, lines } = await collectStartErrors([], {
      RAILHEAD_MASTER_KEY: 'hush',
      NODE_ENV: 'production',
    });
    expect(code).toBe(2);
    expect(lines).toEqual(['RAILHEAD_MASTER_KEY must be 32 bytes in hex or base64.', '']);
  }, 60_000);

  /** Output of a start that cannot listen. The start creates no files, and no process remains. */
  const failToListen = async (flags: string[]) => {
    const folder = createFolder();
    const { code, out, err } = await folder.waitForExit(folder.launch(flags));
    expect([code, out]).toEqual([1, '']);
    expect(fs.existsSync(folder.dir)).toBe(false);
    expect(await folder.remainingProcesses()).toEqual([]);
    return err.split('\n').filter((line) => !/^Buil(t|ding)/.test(line));
  };

  it.each(['127.0.0.1', 'localhost', '0.0.0.0'])(
    'can be a port of %s in use by another program',
    async (host) => {
      const otherServer = net.createServer().listen(0, host === 'localhost' ? '127.0.0.1' : host);
      await once(otherServer, 'listening');
      const { port } = otherServer.address() as net.AddressInfo;
      try {
        expect(await failToListen(['--host', host, '--port', String(port)])).toEqual([
          `Port ${port} is in use. Choose another with --port, or stop the program that uses it.`,
          '',
        ]);
      } finally {
        otherServer.close();
      }
    },
    60_000,
  );

  it('can be an address that this machine does not have', async () => {
    expect(await failToListen(['--host', '192.0.2.1'])).toEqual([
      'This machine has no address 192.0.2.1 to listen on. Choose another with --host.',
      '',
    ]);
  }, 60_000);
});

describe('an uncaught error', () => {
  it('is logged without secrets and ends the process with code 1', async () => {
    const folder = createFolder();
    // The source of the script is in the stack, so it must not contain the secret.
    const error =
      "new Error('no connection to postgres://railhead:' + ['hu', 'sh'].join('') + '@db')";
    const script = `process.once('SIGUSR2',()=>setTimeout(()=>{throw ${error}}))`;
    const preload = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const { child } = await folder.start([], { NODE_OPTIONS: preload });
    child.kill('SIGUSR2');
    const { code, out, err } = await folder.waitForExit(child);
    expect(code).toBe(1);
    expect(out).toContain('"message":"the process crashed"');
    expect(out).toContain('no connection to [redacted]');
    expect(out + err).not.toContain('hush');
  }, 90_000);
});
