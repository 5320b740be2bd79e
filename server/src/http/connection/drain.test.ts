// Replies to requests whose body is still being sent. Each reply reaches the client, and the number of
// discarded bytes is bounded.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { portOf, readReply, sendRaw } from '../../../test/kit/http/raw-http.ts';
import { createDrain } from './drain.ts';

const MIB = 1_048_576;
const ELEVEN_MIB_BODY = Buffer.alloc(11 * MIB, '[');

const app = testApp();
let port: number;
let authorization: string;

beforeAll(async () => {
  port = await portOf(app.server);
  const { clientId, clientSecret } = app.platform;
  authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
});

const headOf = (path: string, length: number, extraHeaders = '') =>
  `POST /2025-10-13${path} HTTP/1.1\r\nHost: localhost\r\n${extraHeaders}` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

// The first test, because it needs the unused discard budget of the address.
describe('a client that reads only after it has sent its request', () => {
  it('receives a reply', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.pause();
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.write(headOf('/quotes', ELEVEN_MIB_BODY.length));
      socket.write(ELEVEN_MIB_BODY, () => resolve());
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.resume();
    await once(socket, 'close');
    expect(readReply(text).status).toBe(401);
  });
});

describe('a connection', () => {
  it('remains open after a short unread body', async () => {
    const body = 'x'.repeat(1_000);
    const { text } = await sendRaw(
      port,
      headOf('/quotes', body.length),
      body,
      headOf('/nothing', body.length, 'Connection: close\r\n'),
      body,
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 404']);
  });

  it('that is closing accepts no further request', async () => {
    const body = 'x'.repeat(100_000);
    const token = JSON.stringify({ name: 'Smuggled', permissions: ['VIEW'] });
    const { text } = await sendRaw(
      port,
      headOf('/nothing', body.length),
      body,
      headOf('/tokens', token.length, `Authorization: ${authorization}\r\n`),
      token,
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
    const { body: list } = await app.call('GET', '/tokens?name=Smuggled');
    expect(list.totalCount).toBe(0);
  });

  it('receives 100 Continue only after its request is admitted', async () => {
    const token = JSON.stringify({ name: 'Continued', permissions: ['VIEW'] });
    const waitHeaders = 'Expect: 100-continue\r\nConnection: close\r\n';
    const rejection = await sendRaw(port, headOf('/tokens', 800_000, waitHeaders));
    expect(rejection.text).toMatch(/^HTTP\/1\.1 401/);
    const authorizedHeaders = `${waitHeaders}Authorization: ${authorization}\r\n`;
    const reply = await sendRaw(port, headOf('/tokens', token.length, authorizedHeaders), token);
    expect(reply.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201']);
  });
});

describe('a head with more than 2,000 lines', () => {
  const filler = 'a:\r\n'.repeat(2_100);

  it('cannot hide a length, so that the body is discarded up to the limits', async () => {
    const head = `POST /nope HTTP/1.1\r\nHost: localhost\r\n${filler}Content-Length: 999999999\r\n\r\n`;
    const { status, headers } = await sendRaw(port, head, ELEVEN_MIB_BODY);
    expect([status, headers.connection]).toEqual([404, 'close']);
  });

  it('cannot hide a second Host', async () => {
    const head = `GET /healthz HTTP/1.1\r\nHost: a\r\n${filler}Host: b\r\n\r\n`;
    expect((await sendRaw(port, head)).status).toBe(400);
  });
});

describe('many small chunks', () => {
  const chunkedRequest = (path: string, count: number) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n` +
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(count)}`;

  it('are rejected in a body that is read', async () => {
    const { status, body } = await sendRaw(port, chunkedRequest('/2025-10-13/customers', 5_000));
    expect([status, body.reason]).toEqual([
      400,
      'The body was sent in more than 4096 chunks. Send larger chunks.',
    ]);
  });

  it('count as more than their bytes if they are discarded', async () => {
    const sentBytes = await new Promise<number>((resolve) => {
      const socket = net.connect(port, '127.0.0.1');
      const chunk = '1\r\na\r\n'.repeat(10_000);
      const fill = () => {
        while (socket.write(chunk));
      };
      socket.on('connect', () => {
        socket.write(chunkedRequest('/nope', 1));
        fill();
      });
      socket.on('drain', fill);
      socket.on('error', () => undefined).on('close', () => resolve(socket.bytesWritten));
    });
    // 16 MiB at 4 KiB a chunk are 4,096 chunks. The remaining bytes are buffered by the sockets.
    expect(sentBytes).toBeLessThan(12 * MIB);
  });
});

/** Description, credential, path and the status of the reply to an 11 MiB body. */
const REJECTED_BODIES = [
  ['without a credential', false, '/quotes', 401],
  ['too large', true, '/quotes', 400],
  ['at an unknown path', true, '/nothing', 404],
] as const;

describe.each(REJECTED_BODIES)('an 11 MiB body %s', (_, hasCredential, path, status) => {
  const headers = (): Record<string, string> => (hasCredential ? { authorization } : {});

  it('always receives a reply on a plain socket', async () => {
    const extraHeaders = hasCredential ? `Authorization: ${authorization}\r\n` : '';
    const head = headOf(path, ELEVEN_MIB_BODY.length, extraHeaders);
    const send = () => sendRaw(port, head, ELEVEN_MIB_BODY);
    for (const reply of await Promise.all(Array.from({ length: 6 }, send))) {
      expect([reply.status, reply.body.status]).toEqual([status, status]);
      expect(reply.headers.connection).toBe('close');
    }
  });

  it('always receives a reply with fetch', async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const reply = await fetch(`http://127.0.0.1:${port}/2025-10-13${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers() },
        body: ELEVEN_MIB_BODY,
      });
      expect([attempt, reply.status, ((await reply.json()) as { status: number }).status]).toEqual([
        attempt,
        status,
        status,
      ]);
    }
  });

  it('receives a reply with curl, with and without the wait for 100', async () => {
    for (const expectation of ['Expect: 100-continue', 'Expect:']) {
      for (let attempt = 0; attempt < 4; attempt++) {
        const args = ['-sS', '-H', expectation, '-H', 'content-type: application/json'];
        if (hasCredential) args.push('-H', `authorization: ${authorization}`);
        args.push('--data-binary', '@-', `http://127.0.0.1:${port}/2025-10-13${path}`);
        const curl = promisify(execFile)('curl', args);
        // The input of a rejected request is not read.
        curl.child.stdin?.on('error', () => undefined).end(ELEVEN_MIB_BODY);
        const { stdout } = await curl;
        const reply = JSON.parse(stdout);
        expect([expectation, attempt, reply.status]).toEqual([expectation, attempt, status]);
      }
    }
  });
});

describe('createDrain', () => {
  it('reads no more than its limits', async () => {
    let now = 0;
    const drain = createDrain(() => now);
    const sockets = new Set<net.Socket>();
    const server = http.createServer((request, response) => {
      sockets.add(request.socket);
      drain.prepare(request, response, '10.0.0.1');
      response.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: barePort } = server.address() as AddressInfo;
    const flood = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          sendRaw(barePort, headOf('/x', 50 * MIB), ELEVEN_MIB_BODY, ELEVEN_MIB_BODY),
        ),
      );
    const countReadBytes = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    const replies = await flood(8);
    expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200));
    // The discard budget of one address, and a few buffers of each connection.
    expect(countReadBytes()).toBeLessThan(40 * MIB);
    sockets.clear();
    now += 1_000;
    await flood(8);
    expect(countReadBytes()).toBeLessThan(12 * MIB);
    server.closeAllConnections();
    server.close();
  });
});
