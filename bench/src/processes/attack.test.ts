// Attacks against servers that respond completely, early or partially, that close the connection,
// or that never respond.
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type Attack, type AttackReport, bodyOf, startAttack } from './attack.ts';

const KEY_COUNT = 75_000;
const BODY = bodyOf(KEY_COUNT);

const responseOf = (status: number, extraHeaders = '') =>
  `HTTP/1.1 ${status} Any\r\nContent-Length: 2\r\n${extraHeaders}\r\n{}`;

const servers: net.Server[] = [];
const sockets = new Set<net.Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

async function listen(serve: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    serve(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as net.AddressInfo).port;
}

/** Calls `onHead` for each complete request head and `onBody` with each body. */
function requestsOf(
  socket: net.Socket,
  onHead: (head: string) => void,
  onBody: (body: string) => void = () => undefined,
): void {
  let text = '';
  let length = -1;
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
    const end = text.indexOf('\r\n\r\n');
    if (length < 0 && end >= 0) {
      length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      onHead(text.slice(0, end));
      text = text.slice(end + 4);
    }
    if (length < 0 || text.length < length) return;
    const body = text.slice(0, length);
    text = text.slice(length);
    length = -1;
    onBody(body);
  });
}

/** Attacks until `isEnough` returns true, for at most 10 s. */
async function attackUntil(
  port: number,
  isEnough: () => boolean,
  overrides: Partial<Attack> = {},
): Promise<AttackReport> {
  const attack = startAttack({ port, connections: 1, path: '/any', keys: KEY_COUNT, ...overrides });
  for (let waitCount = 0; !isEnough() && waitCount < 1_000; waitCount++) await sleep(10);
  expect(isEnough()).toBe(true);
  return attack.stop();
}

const total = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);

describe('bodyOf', () => {
  it('returns about 800 kB of JSON for 75,000 keys', () => {
    expect(Object.keys(JSON.parse(BODY))).toHaveLength(KEY_COUNT);
    expect(BODY.length).toBeGreaterThan(780_000);
    expect(BODY.length).toBeLessThan(820_000);
  });
});

describe('startAttack', () => {
  it('posts complete bodies one after the other on a reused connection', async () => {
    const heads: string[] = [];
    let mismatchCount = 0;
    const port = await listen((socket) =>
      requestsOf(
        socket,
        (head) => heads.push(head),
        (body) => {
          if (body !== BODY) mismatchCount++;
          socket.write(responseOf(400));
        },
      ),
    );
    const report = await attackUntil(port, () => heads.length >= 5, {
      authorization: 'Basic YTpi',
    });
    expect(heads[0]).toMatch(/^POST \/any HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    expect(heads[0]).toContain('\r\nAuthorization: Basic YTpi\r\n');
    expect(mismatchCount).toBe(0);
    expect(report).toMatchObject({ responses: { 400: heads.length }, connections: 1 });
    expect(report).toMatchObject({
      unansweredCounts: {},
      connectionErrors: {},
      bodyBytes: BODY.length,
    });
  });

  it('sends a credential only if configured, and one request at a time per connection', async () => {
    let [inFlightCount, peak, headCount] = [0, 0, 0];
    const port = await listen((socket) =>
      requestsOf(
        socket,
        (head) => {
          headCount++;
          peak = Math.max(peak, ++inFlightCount);
          expect(head.toLowerCase()).not.toContain('authorization');
        },
        () => {
          inFlightCount--;
          socket.write(responseOf(401));
        },
      ),
    );
    const report = await attackUntil(port, () => headCount >= 16, { connections: 4 });
    expect(peak).toBeLessThanOrEqual(4);
    expect(report).toMatchObject({ responses: { 401: headCount }, connections: 4 });
  });

  it('accepts an early response, sends the remaining body, and sends the next request', async () => {
    // More than the socket buffers can store, so that a part of the body is still in transit.
    const keys = 5 * KEY_COUNT;
    const bodyLength = bodyOf(keys).length;
    let headCount = 0;
    const lengths: number[] = [];
    const port = await listen((socket) =>
      requestsOf(
        socket,
        () => {
          headCount++;
          socket.write(responseOf(413));
          socket.pause();
          setTimeout(() => socket.resume(), 30);
        },
        (body) => lengths.push(body.startsWith('{"k0":') && body.endsWith('}') ? body.length : 0),
      ),
    );
    const report = await attackUntil(port, () => lengths.length >= 3, { keys });
    expect(new Set(lengths)).toEqual(new Set([bodyLength]));
    expect(report).toMatchObject({
      responses: { 413: headCount },
      connections: 1,
      unansweredCounts: {},
    });
  });

  it('reconnects immediately after a response that closes the connection', async () => {
    let headCount = 0;
    const port = await listen((socket) =>
      requestsOf(socket, () => {
        headCount++;
        socket.end(responseOf(401, 'Connection: close\r\n'));
        socket.pause();
      }),
    );
    const report = await attackUntil(port, () => headCount >= 5);
    expect(report).toMatchObject({ responses: { 401: headCount }, unansweredCounts: {} });
    // The last connection may have been opened for a request that was never started.
    expect(report.connections - headCount).toBeGreaterThanOrEqual(0);
    expect(report.connections - headCount).toBeLessThanOrEqual(1);
  });

  it('counts a response followed by a reset or delimited by the end of the connection', async () => {
    let headCount = 0;
    const port = await listen((socket) =>
      requestsOf(socket, () => {
        headCount++;
        socket.pause();
        const closingResponse = responseOf(429, 'Connection: close\r\n');
        if (headCount % 2) socket.write(closingResponse, () => socket.resetAndDestroy());
        else socket.end('HTTP/1.0 408 Any\r\n\r\n');
      }),
    );
    const report = await attackUntil(port, () => headCount >= 6);
    expect(report.unansweredCounts).toEqual({});
    expect(total(report.responses)).toBe(headCount);
    expect(report.responses[429]).toBeGreaterThanOrEqual(3);
    expect(report.responses[408]).toBeGreaterThanOrEqual(3);
  });

  it('counts unanswered requests by cause', async () => {
    let headCount = 0;
    const terminations = [
      (socket: net.Socket) => socket.resetAndDestroy(),
      (socket: net.Socket) => socket.end(),
      (socket: net.Socket) => socket.end('HTTP/1.1 401 Any\r\nContent-Length: 2\r\n\r\n{'),
    ];
    const port = await listen((socket) =>
      requestsOf(socket, () => terminations[headCount++ % terminations.length]?.(socket)),
    );
    const report = await attackUntil(port, () => headCount >= 9);
    expect(report.responses).toEqual({});
    expect(total(report.unansweredCounts)).toBe(headCount);
    expect(report.unansweredCounts.closed).toBeGreaterThanOrEqual(6);
    expect(
      total(report.unansweredCounts) - (report.unansweredCounts.closed ?? 0),
    ).toBeGreaterThanOrEqual(3);
  });

  it('counts failed connection attempts separately from requests', async () => {
    const port = await listen(() => undefined);
    const server = servers.pop() as net.Server;
    server.close();
    await once(server, 'close');
    const attack = startAttack({ port, connections: 1, path: '/any', keys: 1 });
    await sleep(100);
    const report = await attack.stop();
    expect(report).toMatchObject({ responses: {}, unansweredCounts: {}, connections: 0 });
    expect(report.connectionErrors.ECONNREFUSED).toBeGreaterThan(0);
  });
});
