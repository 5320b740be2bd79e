// Clients, receivers and providers that could delay the stop of the process. The process exits with
// code 0 within 10 s and keeps all acknowledged data.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type IdentityService, startIdentityService } from '../kit/http/identity-service.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const LIMIT_MS = 10_000;
const COMMAND_PATH = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');
const JSON_TYPE = 'content-type: application/json\r\n';

/** A customer who verifies a telephone number by text message. */
const GERMAN_CUSTOMER = {
  ...{ customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace', birthDate: '1990-01-15' },
  ...{ nationality: 'DE', region: 'DE', email: 'ada@example.org', phoneNumber: '+4915112000100' },
  address: { line1: 'Hauptstr. 1', city: 'Berlin', postalCode: '10115', country: 'DE' },
};

interface Token {
  clientId: string;
  clientSecret: string;
}

const basicOf = ({ clientId, clientSecret }: Token) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

let dataFolder: DataFolder;
let receiver: Receiver;
/** A provider of text messages. */
let provider: IdentityService;
let server: Running;
const sockets: net.Socket[] = [];

const start = () => dataFolder.start([], { RAILHEAD_SMS_URL: provider.url, LOG_LEVEL: 'warn' });

beforeAll(async () => {
  dataFolder = createDataFolder('stop');
  receiver = await startReceiver();
  provider = await startIdentityService();
  server = await start();
}, 90_000);

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([dataFolder.remove(), receiver.close(), provider.close()]);
}, 60_000);

async function call(
  method: string,
  target: string,
  body?: object,
  token: Token = server.credentials,
) {
  const reply = await fetch(`${server.credentials.baseUrl}${target}`, {
    method,
    headers: { authorization: basicOf(token), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  return { status: reply.status, body: (text ? JSON.parse(text) : undefined) as any };
}

const createCustomer = async (fullName: string) =>
  (await call('POST', '/customers', { customerType: 'INDIVIDUAL', fullName })).status;

const readNames = async (): Promise<string[]> =>
  (await call('GET', '/customers?limit=100')).body.data.map(
    (customer: { fullName: string }) => customer.fullName,
  );

/** A connection on which this text is sent. `receivedText` returns the received text. */
async function connect(text: string): Promise<{ socket: net.Socket; receivedText: () => string }> {
  const { hostname, port } = new URL(server.origin);
  const socket = net.connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let output = '';
  socket.on('data', (chunk: Buffer) => {
    output += chunk.toString('latin1');
  });
  if (text) socket.write(text);
  return { socket, receivedText: () => output };
}

/** The request line and headers, without the empty line after them. */
const requestHead = (line: string, extraHeaders = '') =>
  `${line} HTTP/1.1\r\nhost: railhead\r\nauthorization: ${basicOf(server.credentials)}\r\n${extraHeaders}`;

/** Sends the signal, expects exit code 0 within the limit, and returns the duration in ms. */
async function measureStop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  const sentMs = performance.now();
  server.child.kill(signal);
  expect(await dataFolder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
  const ms = performance.now() - sentMs;
  expect(ms).toBeLessThan(LIMIT_MS);
  expect(await dataFolder.remainingProcesses()).toEqual([]);
  return ms;
}

/** Each function opens a connection that the client does not close. */
const DELAYS: Record<string, () => Promise<unknown>> = {
  'a connection that never sent a byte': () => connect(''),
  'a keep-alive connection after a reply': async () => {
    const { receivedText } = await connect(`${requestHead('GET /healthz')}\r\n`);
    await vi.waitUntil(() => receivedText().includes('"ok"'));
  },
  'an incomplete request head': () => connect(requestHead('GET /healthz')),
  'an incomplete request head after a reply': async () => {
    const { receivedText, socket } = await connect(`${requestHead('GET /healthz')}\r\n`);
    await vi.waitUntil(() => receivedText().includes('"ok"'));
    socket.write(requestHead('GET /healthz'));
  },
  'an incomplete request body': () => {
    const line = 'POST /2025-10-13/customers';
    return connect(
      `${requestHead(line, `${JSON_TYPE}content-length: 900\r\n`)}\r\n{"customerType":`,
    );
  },
  'an upload in progress': () => {
    const type = 'content-type: multipart/form-data; boundary=B\r\ncontent-length: 90000\r\n';
    const fileHead =
      '--B\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF';
    return connect(`${requestHead('POST /2025-10-13/documents', type)}\r\n${fileHead}`);
  },
  'a client that does not read its replies': async () => {
    const { socket, receivedText } = await connect('');
    socket.pause();
    socket.write(`${requestHead('GET /openapi.json')}\r\n`.repeat(20));
    await sleep(300);
    expect(receivedText()).toBe('');
  },
};

describe('a stop', () => {
  it('does not wait for open connections', async () => {
    expect(await createCustomer('Ada Lovelace')).toBe(201);
    for (const openConnection of Object.values(DELAYS)) await openConnection();
    await sleep(200);
    await measureStop();
    server = await start();
    expect(await readNames()).toEqual(['Ada Lovelace']);
  }, 90_000);

  it.each(['a keep-alive connection after a reply', 'a connection that never sent a byte'])(
    'is immediate despite %s',
    async (delay) => {
      await DELAYS[delay]?.();
      expect(await measureStop()).toBeLessThan(4_000);
      server = await start();
    },
    90_000,
  );

  it('completes a request whose body is still arriving', async () => {
    const body = JSON.stringify({ customerType: 'INDIVIDUAL', fullName: 'Grace Hopper' });
    const bodyHeaders = `${JSON_TYPE}content-length: ${body.length}\r\n`;
    const { socket, receivedText } = await connect(
      `${requestHead('POST /2025-10-13/customers', bodyHeaders)}\r\n${body.slice(0, 20)}`,
    );
    await sleep(200);
    const whenStopped = measureStop();
    await sleep(1_500);
    const readinessStatus = fetch(`${server.origin}/readyz`).then(({ status }) => status);
    expect(await readinessStatus.catch(() => 503)).toBe(503);
    socket.write(body.slice(20));
    await vi.waitUntil(() => receivedText().includes('Grace Hopper'), { timeout: 5_000 });
    expect(receivedText()).toMatch(/^HTTP\/1\.1 201 /);
    await whenStopped;
    server = await start();
    expect(await readNames()).toContain('Grace Hopper');
  }, 90_000);

  it('returns the usual error format for a request during the stop', async () => {
    const { socket, receivedText } = await connect(requestHead('GET /2025-10-13/customers'));
    await sleep(200);
    const whenStopped = measureStop();
    await sleep(300);
    socket.write('\r\n');
    await vi.waitUntil(() => receivedText().includes('}'), { timeout: 5_000 });
    expect(receivedText()).toMatch(/^HTTP\/1\.1 503 /);
    expect(receivedText()).toMatch(
      /"code":"SERVICE_UNAVAILABLE","reason":"The server is shutting down. Retry the request."/,
    );
    expect(receivedText()).toMatch(/\r\nconnection: close\r\n/i);
    await whenStopped;
    server = await start();
  }, 90_000);

  it('leaves a hanging job and a hanging delivery for the next start', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[COMMAND_PATH, 'platform', 'create', '--name', 'Shop', '--environment', 'production'],
      ...['--currencies', 'USD,EUR', '--data-dir', dataFolder.dir, '--json'],
    ]);
    const productionToken = JSON.parse(stdout) as Token;
    const createdCustomer = await call('POST', '/customers', GERMAN_CUSTOMER, productionToken);
    expect(createdCustomer).toMatchObject({ status: 201 });
    provider.respondWith(() => undefined);
    receiver.behave(() => undefined);
    const config = { webhookEndpoint: receiver.url };
    expect((await call('PATCH', '/config', config)).status).toBe(200);
    const codeReply = await call(
      'POST',
      `/customers/${createdCustomer.body.id}/verify-phone`,
      undefined,
      productionToken,
    );
    expect(codeReply).toMatchObject({ status: 204 });
    expect(await createCustomer('Alan Turing')).toBe(201);
    await vi.waitUntil(() => provider.cases.length > 0 && receiver.arrivals.length > 0, {
      timeout: 10_000,
    });
    await measureStop();
    provider.respondWith({});
    receiver.behave(200);
    const [messageCount, deliveryCount] = [provider.cases.length, receiver.arrivals.length];
    server = await start();
    await vi.waitUntil(
      () => provider.cases.length > messageCount && receiver.arrivals.length > deliveryCount,
      {
        timeout: 30_000,
      },
    );
    expect(await readNames()).toContain('Alan Turing');
  }, 120_000);

  it('ignores further signals', async () => {
    await DELAYS['an incomplete request body']?.();
    await sleep(200);
    const whenStopped = measureStop('SIGINT');
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      await sleep(100);
      server.child.kill(signal);
    }
    await whenStopped;
  }, 90_000);
});
