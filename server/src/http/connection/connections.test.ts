// Connections with many requests in one packet, and connections without progress.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { portOf, sendRaw } from '../../../test/kit/http/raw-http.ts';

const app = testApp({ rateLimits: { anonymous: 20 } });
let port: number;
let authorization: string;
let receivedCount = 0;

beforeAll(async () => {
  port = await portOf(app.server);
  const { clientId, clientSecret } = app.platform;
  authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  app.server.server.on('request', () => {
    receivedCount += 1;
  });
});

const get = (path: string, extraHeaders = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${extraHeaders}\r\n`;
const CLOSE = 'Connection: close\r\n';
const statusLinesOf = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? [];

const postToken = (name: string) => {
  const body = JSON.stringify({ name, permissions: ['VIEW'] });
  return (
    `POST /2025-10-13/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
};

const tokensOf = async (name: string) =>
  (await app.call('GET', `/tokens?name=${name}`)).body.totalCount;

describe('pipelined requests on one connection', () => {
  it('are limited to 16', async () => {
    const reply = await sendRaw(port, get('/healthz').repeat(15), get('/healthz', CLOSE));
    expect(statusLinesOf(reply.text)).toEqual(Array(16).fill('HTTP/1.1 200'));
  });

  it.each(['/healthz', '/nothing', '/%zz', `/2025-10-13/transactions/${'x'.repeat(400)}`])(
    'close the connection beyond 16, without parsing further requests: %s',
    async (path) => {
      receivedCount = 0;
      const { text } = await sendRaw(port, get(path).repeat(500)).catch(() => ({ text: '' }));
      expect(statusLinesOf(text).length).toBeLessThanOrEqual(16);
      expect(receivedCount).toBe(17);
    },
  );

  it('do not affect the server when their connection is reset', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = net.connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined).write(get('/healthz').repeat(500));
      socket.write(get('/nothing', 'Expect: no\r\n').repeat(500), () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    const { status } = await sendRaw(port, get('/healthz', CLOSE));
    expect(status).toBe(200);
  });
});

describe('a head that HTTP forbids', () => {
  it('closes its connection after the replies to earlier requests', async () => {
    const transferCoding =
      'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    const heads = {
      transferCoding,
      twoHosts: get('/healthz', 'Host: b\r\n'),
      invalidUrl: get('/%zz', 'Host: b\r\n'),
    };
    for (const [name, head] of Object.entries(heads)) {
      const { text } = await sendRaw(
        port,
        get('/healthz'),
        get('/readyz') + head + postToken(name),
      );
      expect([name, statusLinesOf(text)]).toEqual([
        name,
        ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'],
      ]);
      expect(await tokensOf(name)).toBe(0);
    }
    const { text } = await sendRaw(port, postToken('allowed'), get('/healthz', CLOSE));
    expect(statusLinesOf(text)).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200']);
    expect(await tokensOf('allowed')).toBe(1);
  });

  it('may be followed by a reset of the connection', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = net.connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      const requests = get('/readyz') + get('/healthz', 'Host: b\r\n') + get('/healthz').repeat(50);
      socket.write(requests, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    expect((await sendRaw(port, get('/healthz', CLOSE))).status).toBe(200);
  });
});

describe('an address that cannot be decoded', () => {
  it('counts toward the limit of its client', async () => {
    const remoteAddress = '10.3.0.1';
    const statuses = [];
    for (let index = 0; index < 41; index++) {
      const { statusCode } = await app.server.inject({ url: '/%zz', remoteAddress });
      statuses.push(statusCode);
      if (index === 0) expect(statusCode).toBe(400);
      if (index === 15) break;
    }
    // Concurrent, because the clock of the harness is stopped and each further reply is delayed by a second.
    const laterReplies = await Promise.all(
      Array.from({ length: 26 }, () => app.server.inject({ url: '/%zz', remoteAddress })),
    );
    statuses.push(...laterReplies.map(({ statusCode }) => statusCode));
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect(laterReplies.at(-1)?.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
  });
});

describe('an idle connection', () => {
  const stallingApp = testApp({ stalledMs: 1_000 });
  let stalledPort: number;
  beforeAll(async () => {
    stalledPort = await portOf(stallingApp.server);
  });

  it.each([
    ['without a request', ''],
    ['in the middle of a head', 'GET /healthz HTTP/1.1\r\nHost:'],
    // 16 replies of 3.5 MB exceed the buffers of two sockets (4 and 33 MB by default).
    ['whose replies are not read', get('/docs/reference/viewer.js').repeat(16)],
  ])('is closed %s', async (_, text) => {
    const acceptance = once(stallingApp.server.server, 'connection');
    const socket = net.connect(stalledPort, '127.0.0.1').on('error', () => undefined);
    const [serverSocket] = (await acceptance) as [net.Socket];
    const startMs = performance.now();
    socket.pause().write(text);
    await once(serverSocket, 'close');
    expect(performance.now() - startMs).toBeGreaterThan(900);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    socket.destroy();
  });

  it('remains open while it receives data slowly', async () => {
    const head = get('/healthz', CLOSE);
    const socket = net.connect(stalledPort, '127.0.0.1');
    let response = '';
    socket.on('data', (chunk) => {
      response += chunk.toString();
    });
    const closePromise = once(socket, 'close');
    for (let start = 0; start < head.length; start += 4) {
      socket.write(head.slice(start, start + 4));
      await sleep(100);
    }
    await closePromise;
    expect(statusLinesOf(response)).toEqual(['HTTP/1.1 200']);
  });
});
