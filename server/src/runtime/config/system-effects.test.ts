// Reuse, redirects, limits and timeouts of requests over real connections.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startHanging } from '../../../test/kit/http/hanging-servers.ts';
import type { HttpRequest, StreamRequest } from '../../kernel/effects.ts';
import { publicLookup, systemEffects } from './system-effects.ts';

const openServers: (http.Server | net.Server)[] = [];

async function listen<S extends http.Server | net.Server>(server: S): Promise<[S, string]> {
  openServers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`];
}

afterEach(() => {
  for (const server of openServers.splice(0)) {
    if (server instanceof http.Server) server.closeAllConnections();
    server.close();
  }
});

const request = (url: string, overrides: Partial<HttpRequest> = {}): HttpRequest => ({
  url,
  method: 'POST',
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
  timeoutMs: 2_000,
  maxBytes: 1_000,
  publicOnly: false,
  ...overrides,
});

/** The two clients that send requests. */
const CLIENTS = [{ repeatable: false }, { repeatable: true }];

const effects = systemEffects();
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'succeeded',
    (error: { code?: string }) => error.code,
  );

describe.each(CLIENTS)('http, repeatable: $repeatable', ({ repeatable }) => {
  const requestTo = (url: string, overrides?: Partial<HttpRequest>) =>
    request(url, { repeatable, ...overrides });

  it('sends the complete request and returns status, headers and body', async () => {
    const [, url] = await listen(
      http.createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          response.writeHead(207, { 'x-seen': request.headers['content-length'] });
          response.end(`${request.method} ${request.headers['content-type']} ${body}`);
        });
      }),
    );
    const reply = await effects.http(requestTo(url, { body: 'grüße' }));
    expect(reply.status).toBe(207);
    expect(reply.headers['x-seen']).toBe('7');
    expect(reply.body).toBe('POST text/plain grüße');
  });

  it('returns a redirect without following it', async () => {
    let requestCount = 0;
    const [, url] = await listen(
      http.createServer((_request, response) => {
        requestCount++;
        response.writeHead(302, { location: '/elsewhere' }).end();
      }),
    );
    expect((await effects.http(requestTo(url))).status).toBe(302);
    expect(requestCount).toBe(1);
  });

  it('reuses connections and replaces a connection that the server closes', async () => {
    let connectionCount = 0;
    let responseCount = 0;
    const [server, url] = await listen(
      http.createServer((request, response) => {
        // The first connection is closed before its third request.
        if (++responseCount === 3) request.socket.destroy();
        else response.end('ok');
      }),
    );
    server.on('connection', () => connectionCount++);
    await effects.http(requestTo(url));
    await effects.http(requestTo(url));
    expect(connectionCount).toBe(1);
    expect((await effects.http(requestTo(url))).body).toBe('ok');
    expect([connectionCount, responseCount]).toEqual([2, 4]);
  });

  it('opens another connection if several reused connections are closed', async () => {
    const [, url] = await listen(
      net.createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
          socket.once('data', () => socket.destroy());
        });
      }),
    );
    const send = () => effects.http(requestTo(url));
    await Promise.all(Array.from({ length: 5 }, send));
    expect((await send()).body).toBe('ok');
  });

  it('sends each request once if a new connection breaks', async () => {
    let requestCount = 0;
    const [, url] = await listen(
      http.createServer((request) => {
        requestCount++;
        request.socket.destroy();
      }),
    );
    expect(await codeOf(effects.http(requestTo(url)))).toBe('ECONNRESET');
    expect(requestCount).toBe(1);
  });

  it('truncates a long response at maxBytes', async () => {
    const [, url] = await listen(
      http.createServer((_request, response) => {
        response.write('x'.repeat(600));
        setTimeout(() => response.write('y'.repeat(100_000)), 20);
      }),
    );
    const reply = await effects.http(requestTo(url));
    expect(reply.body).toBe('x'.repeat(600) + 'y'.repeat(400));
  });

  it('fails if a receiver never responds, sends slowly or stops before the end', async () => {
    const silentServer = await listen(net.createServer());
    const slowServer = await listen(
      http.createServer((_request, response) => {
        const timer = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const truncatingServer = await listen(
      http.createServer((_request, response) => {
        response.writeHead(200, { 'content-length': '10' });
        response.write('12345', () => response.socket?.destroy());
      }),
    );
    const shortTimeout = { timeoutMs: 300 };
    expect(await codeOf(effects.http(requestTo(silentServer[1], shortTimeout)))).toBe('ETIMEDOUT');
    expect(await codeOf(effects.http(requestTo(slowServer[1], shortTimeout)))).toBe('ETIMEDOUT');
    expect(await codeOf(effects.http(requestTo(truncatingServer[1], shortTimeout)))).toBe(
      'ECONNRESET',
    );
  });

  it('rejects invalid HTTP, an unrequested upgrade and headers that are too long', async () => {
    const responses = [
      'SSH-2.0-OpenSSH_9.9\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}\r\n`,
    ];
    for (const invalidResponse of responses) {
      const [, url] = await listen(
        net.createServer((socket) => {
          socket.on('error', () => undefined);
          socket.on('data', () => socket.end(invalidResponse));
        }),
      );
      expect(await codeOf(effects.http(requestTo(url)))).not.toBe('succeeded');
    }
  });

  it('reports a refused connection', async () => {
    const [server, url] = await listen(net.createServer());
    server.close();
    await once(server, 'close');
    expect(await codeOf(effects.http(requestTo(url)))).toBe('ECONNREFUSED');
  });

  it('resolves names below localhost without a name server', async () => {
    const [server] = await listen(http.createServer((_request, response) => response.end('here')));
    const { port } = server.address() as AddressInfo;
    const reply = await effects.http(requestTo(`http://some.name.localhost:${port}/`));
    expect(reply.body).toBe('here');
  });
});

describe.each(CLIENTS)('publicOnly, repeatable: $repeatable', ({ repeatable }) => {
  const requestTo = (url: string, overrides?: Partial<HttpRequest>) =>
    request(url, { repeatable, ...overrides });

  it('rejects http and every private address before a connection is opened', async () => {
    let connectionCount = 0;
    const [server, url] = await listen(net.createServer(() => connectionCount++));
    const { port } = server.address() as AddressInfo;
    const urls = [
      url,
      `https://127.0.0.1:${port}/`,
      `https://2130706433:${port}/`,
      `https://[::ffff:127.0.0.1]:${port}/`,
      `https://localhost:${port}/`,
    ];
    for (const each of urls) {
      expect(await codeOf(effects.http(requestTo(each, { publicOnly: true })))).toBe(
        'EADDRREFUSED',
      );
    }
    expect(connectionCount).toBe(0);
  });

  it('checks all addresses of a name', async () => {
    const responses: Record<string, string[]> = {
      'inner.example': ['127.0.0.1'],
      'mixed.example': ['8.8.8.8', '10.0.0.1'],
      'mapped.example': ['::ffff:127.0.0.1'],
      'empty.example': [],
    };
    const checkedEffects = systemEffects({ resolve: async (name) => responses[name] ?? [] });
    for (const name of Object.keys(responses)) {
      const nameRequest = requestTo(`https://${name}/`, { publicOnly: true });
      expect(await codeOf(checkedEffects.http(nameRequest)), name).toBe('EADDRREFUSED');
    }
  });

  it('connects to the checked addresses of one resolution, which prevents rebinding', async () => {
    let resolutionCount = 0;
    const lookup = publicLookup(async () =>
      resolutionCount++ ? ['127.0.0.1'] : ['8.8.8.8', '2a00::1'],
    );
    const result = await new Promise((resolve) =>
      lookup('a.example', { all: true }, (_error, addresses) => resolve(addresses)),
    );
    expect(result).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2a00::1', family: 6 },
    ]);
    expect(resolutionCount).toBe(1);
    const secondReply = await new Promise((resolve) =>
      lookup('a.example', {}, (error, address) => resolve([error?.code, address])),
    );
    expect(secondReply).toEqual(['EADDRREFUSED', '']);
  });

  it('times out on a name server that never responds', async () => {
    const failingEffects = systemEffects({ resolve: () => new Promise(() => {}) });
    const slowRequest = requestTo('https://slow.example/', { publicOnly: true, timeoutMs: 100 });
    expect(await codeOf(failingEffects.http(slowRequest))).toBe('ETIMEDOUT');
  });

  it('reports an unknown name', async () => {
    const failingEffects = systemEffects({
      resolve: () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })),
    });
    const unknownRequest = requestTo('https://gone.example/', { publicOnly: true });
    expect(await codeOf(failingEffects.http(unknownRequest))).toBe('ENOTFOUND');
  });
});

describe('random', () => {
  it('returns different bytes at each call, of any size', () => {
    const values = new Set<string>();
    for (let i = 0; i < 5_000; i++) values.add(Buffer.from(effects.random(16)).toString('hex'));
    expect(values.size).toBe(5_000);
    expect(effects.random(20_000)).toHaveLength(20_000);
  });

  it('returns bytes that remain unchanged', () => {
    const changedBytes = Array.from({ length: 2_000 }, () => effects.random(16).fill(7));
    for (let i = 0; i < 2_000; i++) effects.random(16).fill(9);
    expect(changedBytes.every((bytes) => bytes.every((byte) => byte === 7))).toBe(true);
  });
});

describe('stream', () => {
  const limits = { timeoutMs: 200, deadlineMs: 400 };
  const get = (url: string, overrides: Partial<StreamRequest> = {}) =>
    effects.stream({ url, method: 'GET', headers: {}, ...limits, ...overrides });
  const readStream = async (url: string, overrides: Partial<StreamRequest> = {}) => {
    let text = '';
    for await (const chunk of (await get(url, overrides)).body)
      text += Buffer.from(chunk).toString();
    return text;
  };

  it('fails if a receiver never responds, stops after the head or sends slowly', async () => {
    for (const behavior of ['silent', 'head', 'trickle'] as const) {
      const server = await startHanging(behavior);
      const startMs = performance.now();
      expect(await codeOf(readStream(server.url)), behavior).not.toBe('succeeded');
      expect(performance.now() - startMs, behavior).toBeLessThan(3_000);
      await server.close();
    }
  });

  it('times out on an address that does not connect', async () => {
    // A process that listens and never accepts. Connections beyond its backlog cannot be established.
    const code = `const server = require('node:net').createServer();
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, String(server.address().port));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`;
    const unresponsiveProcess = spawn(process.execPath, ['-e', code]);
    const [port] = await once(unresponsiveProcess.stdout, 'data');
    const fillerSockets = Array.from({ length: 4 }, () => net.connect(Number(port), '127.0.0.1'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await codeOf(get(`http://127.0.0.1:${port}/`))).toBe('ETIMEDOUT');
    for (const socket of fillerSockets) socket.on('error', () => undefined).destroy();
    unresponsiveProcess.kill('SIGKILL');
  });

  it('receives a body that arrives in parts before the deadline', async () => {
    const [, url] = await listen(
      http.createServer((_request, response) => {
        response.write('a');
        setTimeout(() => response.end('b'), 100);
      }),
    );
    expect(await readStream(url, { timeoutMs: 5_000, deadlineMs: 10_000 })).toBe('ab');
  });
});

describe('call', () => {
  it('rejects at its deadline and aborts, even if the library ignores the abort', async () => {
    let isAborted = false;
    const unresponsiveCall = (signal: AbortSignal) =>
      new Promise<never>(() => {
        signal.addEventListener('abort', () => {
          isAborted = true;
        });
      });
    expect(await codeOf(effects.call({ timeoutMs: 50 }, unresponsiveCall))).toBe('ETIMEDOUT');
    expect(isAborted).toBe(true);
  });

  it('returns the result of the library or throws its error', async () => {
    expect(await effects.call({ timeoutMs: 1_000 }, async () => 7)).toBe(7);
    const failingCall = async () => {
      throw Object.assign(new Error('x'), { code: 'EAUTH' });
    };
    expect(await codeOf(effects.call({ timeoutMs: 1_000 }, failingCall))).toBe('EAUTH');
  });
});
