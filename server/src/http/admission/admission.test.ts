// Admission of requests by their head, and limits of bytes, addresses and repeated rejections. The tests
// of a request head announce a body without sending it.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../../test/kit/app/harness.ts';
import { testApp, testAppForEach } from '../../../test/kit/app/test-app.ts';
import { portOf, sendRaw } from '../../../test/kit/http/raw-http.ts';
import { createRejectionDelay } from './rejection-delay.ts';

const KIB = 1_024;

const authorizationOf = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

interface Head {
  method?: string;
  path: string;
  authorization?: string;
  length?: number;
}

const headOf = ({ method = 'POST', path, authorization, length = 800_000 }: Head) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...(authorization ? [`Authorization: ${authorization}`] : []),
    '',
    '',
  ].join('\r\n');

describe('a request head', () => {
  const app = testApp({ rateLimits: { requests: 10 } });
  let port: number;
  beforeAll(async () => {
    port = await portOf(app.server);
  });

  const request = async (head: Head) => {
    const { status, body, headers } = await sendRaw(port, headOf(head));
    expect(headers['content-type']).toContain('application/json');
    return [status, body.code, body.status];
  };

  it('is rejected for an unknown path, a wrong method and a wrong credential', async () => {
    const api = '/2025-10-13';
    expect(await request({ path: '/nothing' })).toEqual([404, 'NOT_FOUND', 404]);
    expect(await request({ path: `${api}/nothing` })).toEqual([404, 'NOT_FOUND', 404]);
    expect(await request({ path: `${api}/config` })).toEqual([405, 'METHOD_NOT_ALLOWED', 405]);
    expect(await request({ path: `${api}/quotes` })).toEqual([401, 'UNAUTHORIZED', 401]);
    const authorization = 'Basic Zzpn';
    const unauthorizedReply = await request({ path: `${api}/quotes`, authorization });
    expect(unauthorizedReply).toEqual([401, 'UNAUTHORIZED', 401]);
    const linkReply = await request({ path: '/verify/none/submit' });
    expect(linkReply).toEqual([410, 'LINK_ENDED', 410]);
  });

  it('is rejected for a missing permission and a body that is too large', async () => {
    const path = '/2025-10-13/quotes';
    const viewerAuthorization = authorizationOf(await app.tokenWith(['VIEW']));
    expect(await request({ path, authorization: viewerAuthorization })).toEqual([
      403,
      'FORBIDDEN',
      403,
    ]);
    const authorization = authorizationOf(app.platform);
    expect(await request({ path, authorization })).toEqual([400, 'INVALID_INPUT', 400]);
  });

  it('is rejected over the rate limit, regardless of the body', async () => {
    const authorization = authorizationOf(app.other);
    const path = '/2025-10-13/quotes';
    for (let index = 0; index < 20; index++) {
      await app.call('GET', '/config', undefined, { platform: app.other });
    }
    expect(await request({ path, authorization })).toEqual([429, 'RATE_LIMITED', 429]);
    const incompleteRequest = `${headOf({ path, authorization, length: 1 })}{`;
    const { text } = await sendRaw(
      port,
      incompleteRequest.replace('Host', 'Connection: close\r\nHost'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 429 /);
  });

  it('is rejected without exactly one Host, with an unknown expectation and over 16 KiB', async () => {
    const sendHead = (...lines: string[]) =>
      sendRaw(port, ['GET /healthz HTTP/1.1', ...lines, '', ''].join('\r\n'));
    for (const lines of [[], ['Host: a', 'Host: a'], ['host: a', 'X: y', 'HOST: b']]) {
      const { status, body } = await sendHead(...lines);
      expect([status, body.code, body.status]).toEqual([400, 'INVALID_INPUT', 400]);
      expect(body.reason).toContain('Host');
      expect(body.message).toBe(body.reason);
    }
    const { status, body } = await sendHead('Host: a', 'Expect: 200-ok');
    expect([status, body.code, body.status]).toEqual([417, 'EXPECTATION_FAILED', 417]);
    const oversizedHead = await sendHead('Host: a', `X: ${'x'.repeat(20_000)}`);
    expect([oversizedHead.status, oversizedHead.body.code, oversizedHead.body.status]).toEqual([
      431,
      'HEADERS_TOO_LARGE',
      431,
    ]);
    const http10Reply = await sendRaw(port, 'GET /healthz HTTP/1.0\r\n\r\n');
    expect([http10Reply.status, http10Reply.body]).toEqual([200, { status: 'ok' }]);
  });

  it('is rejected in HTTP/1.0 with Transfer-Encoding', async () => {
    const head = 'POST /2025-10-13/quotes HTTP/1.0\r\nConnection: keep-alive\r\n';
    for (const coding of ['chunked', 'gzip, chunked']) {
      const lines = `Transfer-Encoding: ${coding}\r\n\r\n`;
      // The reply is immediate. The second body is not sent.
      for (const body of ['2\r\n{}\r\n0\r\n\r\n', '']) {
        const { status, body: fault, headers } = await sendRaw(port, head + lines + body);
        expect([status, fault.code, fault.status]).toEqual([400, 'INVALID_INPUT', 400]);
        expect(fault.reason).toContain('Transfer-Encoding');
        expect(headers.connection).toBe('close');
      }
    }
  });

  it('is accepted in HTTP/1.0 regardless of its expectation', async () => {
    const body = JSON.stringify({ name: 'Old', permissions: ['VIEW'] });
    const head = headOf({
      path: '/2025-10-13/tokens',
      authorization: authorizationOf(app.platform),
      length: body.length,
    }).replace('HTTP/1.1', 'HTTP/1.0');
    for (const expectation of ['100-continue', '200-ok']) {
      const headWithExpectation = head.replace('Host', `Expect: ${expectation}\r\nHost`);
      const { text } = await sendRaw(port, headWithExpectation, body);
      expect(text.match(/HTTP\/1\.\d \d+/g)).toEqual(['HTTP/1.1 201']);
    }
  });
});

describe('bytes of a platform', () => {
  const app = testAppForEach({ rateLimits: { bytes: 1 } });

  /** A body of 64 KiB. The burst of a platform permits sixteen of them. */
  const largeBody = () => {
    const frame = { name: 'x', permissions: ['VIEW'], more: '' };
    const padding = 64 * KIB - JSON.stringify(frame).length;
    return { ...frame, more: 'x'.repeat(padding) };
  };

  it('are limited like requests, for each platform', async () => {
    const statuses = [];
    for (let index = 0; index < 17; index++) {
      statuses.push((await app.call('POST', '/tokens', largeBody())).status);
    }
    expect(statuses).toEqual([...Array(16).fill(201), 429]);
    const { status, headers, body } = await app.call('POST', '/tokens', largeBody());
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers['retry-after'])).toBe(65_536);
    expect((await app.call('GET', '/config')).status).toBe(200);
    expect((await app.call('POST', '/tokens', largeBody(), { platform: app.other })).status).toBe(
      201,
    );
    const metrics = await app.server.inject('/metrics');
    expect(metrics.body).toContain('railhead_rate_limited_total{limit="bytes"} 2');
  });

  it('are counted while they arrive if no length is announced', async () => {
    const port = await portOf(app.server);
    const text = JSON.stringify(largeBody());
    const head = headOf({
      path: '/2025-10-13/tokens',
      authorization: authorizationOf(app.platform),
    })
      .replace('Host: localhost', 'Host: localhost\r\nConnection: close')
      .replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
    const statuses = [];
    for (let index = 0; index < 17; index++) {
      const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
      statuses.push((await sendRaw(port, head, chunk)).status);
    }
    expect(statuses).toEqual([...Array(16).fill(201), 429]);
  });
});

describe('an address without a credential', () => {
  const app = testApp({ rateLimits: { anonymous: 2 } });

  const request = (url: string, remoteAddress: string, headers = {}) =>
    app.server.inject({ method: 'GET', url, remoteAddress, headers });

  it.each([
    ['/nothing', 1],
    ['/openapi.json', 2],
    ['/metrics', 3],
    ['/docs', 4],
    ['/i/none', 5],
    ['/2025-10-13/agents/device-codes/none/redeem', 6],
  ])('is limited at %s', async (url, network) => {
    const method = url.endsWith('redeem') ? 'POST' : 'GET';
    const remoteAddress = `10.0.${network}.1`;
    const statuses = [];
    for (let index = 0; index < 5; index++) {
      const { statusCode } = await app.server.inject({ method, url, remoteAddress });
      statuses.push(statusCode);
    }
    expect(statuses.slice(0, 4)).not.toContain(429);
    expect(statuses[4]).toBe(429);
    expect((await request('/docs', `10.1.${network}.1`)).statusCode).toBe(200);
  });

  it('receives an error or a page by its Accept header, and unlimited health checks', async () => {
    const remoteAddress = '10.2.0.1';
    for (let index = 0; index < 4; index++) await request('/docs', remoteAddress);
    const error = await request('/docs', remoteAddress);
    expect([error.statusCode, error.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(error.headers['retry-after']).toBe('1');
    const response = await request('/i/none', remoteAddress, { accept: 'text/html' });
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '1']);
    expect(response.headers['content-type']).toContain('text/html');
    for (let index = 0; index < 10; index++) {
      expect((await request('/healthz', remoteAddress)).statusCode).toBe(200);
      expect((await request('/readyz', remoteAddress)).statusCode).toBe(200);
    }
  });
});

describe('createRejectionDelay', () => {
  it('delays no reply to the first 20 rejections of a client in a second', async () => {
    let now = 0;
    const delay = createRejectionDelay(() => now, 5);
    const delaysOf = (key: string, count: number) =>
      Array.from({ length: count }, () => delay(key));
    expect(delaysOf('a', 20)).toEqual(Array(20).fill(undefined));
    const delays = delaysOf('a', 3);
    for (const each of delays) expect(each).toBeInstanceOf(Promise);
    expect(delay('b')).toBeUndefined();
    await Promise.all(delays);
    now += 1_000;
    expect(delay('a')).toBeUndefined();
  });

  it('delays a bounded number of replies', async () => {
    const delay = createRejectionDelay(() => 0, 50);
    const delays = Array.from({ length: 5_000 }, () => delay('a'));
    expect(delays.filter(Boolean)).toHaveLength(4_096);
    await Promise.all(delays);
    expect(delay('a')).toBeInstanceOf(Promise);
  });
});

describe('a client with repeated rejections', () => {
  const app = testApp({ rateLimits: { requests: 100 } });
  let port: number;
  beforeAll(async () => {
    port = await portOf(app.server);
  });

  const requestConfig = (platform = app.platform) =>
    app.call('GET', '/config', undefined, { platform });
  const elapsedMsOf = async (work: () => Promise<unknown>) => {
    const startMs = performance.now();
    await work();
    return performance.now() - startMs;
  };

  it('receives delayed replies without an effect on other clients', async () => {
    for (let index = 0; index < 200; index++) await requestConfig();
    const rejectMany = () => Promise.all(Array.from({ length: 30 }, () => requestConfig()));
    const delayMs = await elapsedMsOf(async () => {
      const rejections = rejectMany();
      const firstReply = await Promise.race([
        rejections.then(() => undefined),
        requestConfig(app.other),
      ]);
      expect(firstReply?.status).toBe(200);
      expect((await rejections).map(({ status }) => status)).toEqual(Array(30).fill(429));
    });
    expect(delayMs).toBeGreaterThan(900);
  });

  it.each([
    ['for bodies that are too large', '/2025-10-13/quotes', 400],
    ['at an unknown path', '/nothing', 404],
    ['for a wrong method', '/2025-10-13/config', 405],
  ])('receives delayed replies %s', async (_, path, status) => {
    const platform = await app.newPlatform(path);
    const head = headOf({ path, authorization: authorizationOf(platform) });
    const delayMs = await elapsedMsOf(async () => {
      const replies = await Promise.all(Array.from({ length: 40 }, () => sendRaw(port, head)));
      expect(replies.map((reply) => reply.status)).toEqual(Array(40).fill(status));
    });
    expect(delayMs).toBeGreaterThan(900);
  });
});

describe('/readyz', () => {
  it('commits at most once per second, at any rate of requests', async () => {
    const app = await startApp();
    const port = await portOf(app.server);
    const request = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    // Only probes write temporary files. PostgreSQL counts temporary files when a later transaction of the
    // connection ends.
    const countProbes = async () => {
      const [row] = await app.runtime.db.query(
        `select temp_files from pg_stat_database where datname = current_database()`,
        [],
      );
      return Number(row?.temp_files);
    };
    const startMs = performance.now();
    for (let round = 0; round < 2; round++) {
      const statuses = await Promise.all(Array.from({ length: 200 }, request));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    await sleep(1_200);
    expect(await request()).toBe(200);
    const seconds = Math.ceil((performance.now() - startMs) / 1_000);
    await expect.poll(countProbes).toBeGreaterThan(0);
    expect(await countProbes()).toBeLessThanOrEqual(seconds + 1);
    await app.close();
  });
});
