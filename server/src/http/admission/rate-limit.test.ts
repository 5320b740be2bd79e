// Rate limits, with a clock set by the test and over HTTP.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import type { TestApp } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { createLimiter, networkOf, type RateLimits } from './rate-limit.ts';

function tokenLimiter(limits: Partial<RateLimits>) {
  let now = 1_000_000;
  const rejections: string[] = [];
  const limiter = createLimiter(
    limits,
    () => now,
    (limit) => rejections.push(limit),
  );
  let headers: Record<string, string> = {};
  return {
    rejections,
    limiter,
    headers: () => headers,
    wait(ms: number) {
      now += ms;
    },
    /** `true` if the request is admitted, otherwise the seconds until a retry. */
    request(platformId = 'a', isQuote = false, share?: string): true | number | undefined {
      headers = {};
      try {
        const reply = { header: (name: string, value: string) => (headers[name] = value) };
        limiter.checkRequest(reply, { platformId, share }, isQuote);
        return true;
      } catch (error) {
        return (error as { retryAfterS?: number }).retryAfterS;
      }
    },
  };
}

const repeat = (count: number, request: () => unknown) => Array.from({ length: count }, request);
const admissions = (count: number) => Array<true>(count).fill(true);

describe('createLimiter', () => {
  it('permits a burst of two seconds, then a constant rate', () => {
    const { request, wait } = tokenLimiter({ requests: 10 });
    expect(repeat(21, () => request())).toEqual([...admissions(20), 1]);
    wait(99);
    expect(request()).toBe(1);
    wait(1);
    expect(repeat(2, () => request())).toEqual([true, 1]);
    wait(500);
    expect(repeat(6, () => request())).toEqual([...admissions(5), 1]);
    wait(3_600_000);
    expect(repeat(21, () => request())).toEqual([...admissions(20), 1]);
  });

  it('reports the remaining requests and when the limit is full again', () => {
    const { request, wait, headers } = tokenLimiter({ requests: 2 });
    request();
    expect(headers()).toEqual({
      'RateLimit-Limit': '4',
      'RateLimit-Remaining': '3',
      'RateLimit-Reset': '1',
      'RateLimit-Policy': '4;w=2',
    });
    repeat(4, () => request());
    expect(headers()).toMatchObject({ 'RateLimit-Remaining': '0', 'RateLimit-Reset': '2' });
    wait(1_000);
    request();
    expect(headers()).toMatchObject({ 'RateLimit-Remaining': '1', 'RateLimit-Reset': '2' });
  });

  it('counts each platform separately', () => {
    const { request } = tokenLimiter({ requests: 1 });
    expect(repeat(3, () => request('a'))).toEqual([true, true, 1]);
    expect(request('b')).toBe(true);
  });

  it('applies the lower limit to quotes, and states the limit that applied', () => {
    const { request, headers, rejections } = tokenLimiter({ requests: 10, quotes: 1 });
    expect(repeat(3, () => request('a', true))).toEqual([true, true, 1]);
    expect(headers()['RateLimit-Limit']).toBe('2');
    expect(rejections).toEqual(['quotes']);
    // The quotes also counted toward the request limit of the platform.
    expect(repeat(18, () => request())).toEqual([...admissions(17), 1]);
    expect(headers()['RateLimit-Limit']).toBe('20');
    expect(rejections).toEqual(['quotes', 'requests']);
    expect(request('a', true)).toBe(1);
    expect(headers()['RateLimit-Limit']).toBe('20');
  });

  it('limits an agent to a share of the limit of its platform', () => {
    const { request, headers } = tokenLimiter({ requests: 20 });
    // The share is 2 per second, a tenth of 20, with a burst of 4.
    expect(repeat(5, () => request('a', false, 'agent 1'))).toEqual([...admissions(4), 1]);
    expect(headers()['RateLimit-Limit']).toBe('4');
    expect(repeat(5, () => request('a', false, 'agent 2'))).toEqual([...admissions(4), 1]);
    expect(repeat(33, () => request())).toEqual([...admissions(32), 1]);
    // The limit of the platform is exhausted before a request of a third agent.
    expect(request('a', false, 'agent 3')).toBe(1);
    expect(headers()['RateLimit-Limit']).toBe('40');
  });

  it('permits an agent at least one request per second', () => {
    const { request } = tokenLimiter({ requests: 2, quotes: 2 });
    expect(repeat(3, () => request('a', true, 'agent'))).toEqual([true, true, 1]);
  });

  it('counts bytes of a platform and states when enough are available', () => {
    const { limiter, wait, rejections } = tokenLimiter({ bytes: 1_048_576 });
    const takeBytes = (bytes: number) => () => limiter.takeBytes('a', bytes);
    takeBytes(2_097_152)();
    expect(takeBytes(1)).toThrow('bytes');
    expect(rejections).toEqual(['bytes']);
    limiter.takeBytes('b', 1);
    wait(500);
    takeBytes(524_288)();
    const retryAfterS = (() => {
      try {
        takeBytes(1_500_000)();
      } catch (error) {
        return (error as { retryAfterS?: number }).retryAfterS;
      }
      return undefined;
    })();
    expect(retryAfterS).toBe(2);
  });

  it('permits the largest body at the lowest limit', () => {
    const { limiter } = tokenLimiter({ bytes: 1 });
    limiter.takeBytes('a', 1_048_576);
    expect(() => limiter.takeBytes('a', 1)).toThrow('bytes');
  });

  it('delays bytes of files beyond half of the burst', async () => {
    const { limiter, wait } = tokenLimiter({ bytes: 10_485_760 });
    const halfBurst = 10_485_760;
    expect(limiter.waitForBytes('a', halfBurst)).toBeUndefined();
    expect(limiter.waitForBytes('a', 1_048_576)).toBeUndefined();
    const pendingWait = limiter.waitForBytes('a', 1_048_576);
    expect(pendingWait).toBeInstanceOf(Promise);
    // Payments can use the reserved half of the limit.
    limiter.takeBytes('a', halfBurst - 1_048_576);
    wait(2_000);
    await pendingWait;
    expect(() => limiter.takeBytes('a', 2 * halfBurst)).toThrow('bytes');
  });

  it('counts requests of an address that need no credential', () => {
    const { limiter, wait, rejections } = tokenLimiter({ anonymous: 1 });
    const request = (address: string) => () => limiter.checkAnonymous(address);
    for (let index = 0; index < 2; index++) request('10.0.0.1')();
    expect(request('10.0.0.1')).toThrow('address');
    expect(rejections).toEqual(['anonymous']);
    request('10.0.0.2')();
    for (let index = 0; index < 2; index++) request(`2001:db8::${index}`)();
    expect(request('2001:db8::9')).toThrow('address');
    wait(1_000);
    request('10.0.0.1')();
  });

  it('has no effect for a limit of 0', () => {
    const { request, headers, limiter } = tokenLimiter({});
    expect(repeat(1_000, () => request('a', true))).toEqual(admissions(1_000));
    expect(headers()).toEqual({});
    for (let index = 0; index < 1_000; index++) limiter.countRejection('10.0.0.1');
    limiter.checkAddress('10.0.0.1', () => false);
    for (let index = 0; index < 1_000; index++) limiter.checkAnonymous('10.0.0.1');
    limiter.takeBytes('a', 1_000_000_000);
    expect(limiter.waitForBytes('a', 1_000_000_000)).toBeUndefined();
  });

  it('tolerates a clock that is set back', () => {
    const { request, wait } = tokenLimiter({ requests: 1 });
    repeat(3, () => request());
    wait(-60_000);
    expect(request()).toBe(1);
    wait(1_000);
    expect(request()).toBe(true);
  });

  it('drops the least recently used client only', () => {
    const { request } = tokenLimiter({ requests: 1 });
    repeat(3, () => request('steady'));
    for (let index = 0; index < 9_999; index++) request(`token ${index}`);
    expect(request('steady')).toBe(1);
    let count = 0;
    repeat(9_999, () => request(`more ${count++}`));
    expect(request('steady')).toBe(1);
    for (let index = 0; index < 10_000; index++) request(`last ${index}`);
    expect(request('steady')).toBe(true);
  });

  it('rejects an address after invalid credentials unless the credentials were valid before', () => {
    const { limiter, wait, rejections } = tokenLimiter({ rejected: 1 });
    const check =
      (address: string, wasValid = false) =>
      () =>
        limiter.checkAddress(address, () => wasValid);
    for (let index = 0; index < 2; index++) {
      check('10.0.0.1')();
      limiter.countRejection('10.0.0.1');
    }
    expect(check('10.0.0.1')).toThrow('credentials');
    expect(rejections).toEqual(['rejected']);
    check('10.0.0.1', true)();
    check('10.0.0.2')();
    wait(1_000);
    check('10.0.0.1')();
  });
});

describe('networkOf', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['1::2:3:4:5:6:7', '1:0:2:3'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
  ])('returns for %s the network %s', (address, network) =>
    expect(networkOf(address)).toBe(network),
  );
});

describe('a server with limits', () => {
  const app = testApp({ rateLimits: { requests: 20, quotes: 1, rejected: 2 } });

  it('states its limits in every reply to valid credentials, including rejections', async () => {
    const names = ['limit', 'remaining', 'reset', 'policy'].map((each) => `ratelimit-${each}`);
    const viewToken = await app.tokenWith(['VIEW']);
    for (const response of [
      await app.call('GET', '/config'),
      await app.call('GET', '/quotes/none'),
      await app.call('POST', '/quotes', {}),
      await app.call('POST', '/tokens', {}, { platform: viewToken }),
    ]) {
      for (const name of names) expect(response.headers[name], name).toBeDefined();
    }
    const anonymousReply = await app.call('GET', '/config', undefined, { platform: null });
    for (const name of names) expect(anonymousReply.headers[name], name).toBeUndefined();
  });

  it('counts all tokens of a platform together', async () => {
    app.effects.set(app.effects.now() + 60_000);
    const tokens = [];
    for (let index = 0; index < 3; index++)
      tokens.push(await app.tokenWith(['VIEW'], `token ${index}`));
    app.effects.set(app.effects.now() + 60_000);
    const statuses = [];
    for (let index = 0; index < 42; index++) {
      statuses.push(
        (await app.call('GET', '/config', undefined, { platform: tokens[index % 3] })).status,
      );
    }
    expect(statuses.filter((each) => each === 200)).toHaveLength(40);
    expect(statuses.slice(40)).toEqual([429, 429]);
    expect((await app.call('GET', '/config', undefined, { platform: app.other })).status).toBe(200);
  });

  it('counts a rejection and stores it under no idempotency key', async () => {
    app.effects.set(app.effects.now() + 60_000);
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'EUR');
    const headers = { 'Idempotency-Key': 'once' };
    const body = quoteBody(account.id, payee.id, 100_00);
    app.effects.set(app.effects.now() + 60_000);
    for (let index = 0; index < 2; index++) await app.call('POST', '/quotes', body);
    const rejection = await app.call('POST', '/quotes', body, { headers });
    expect(rejection.status).toBe(429);
    expect(rejection.headers['retry-after']).toBe('1');
    expect(rejection.body).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    app.effects.set(app.effects.now() + 1_000);
    const repeatedReply = await app.call('POST', '/quotes', body, { headers });
    expect([repeatedReply.status, repeatedReply.headers['idempotency-replayed']]).toEqual([
      201,
      undefined,
    ]);
    const metrics = await app.server.inject('/metrics');
    expect(metrics.body).toContain('railhead_rate_limited_total{limit="quotes"} 1');
    expect(metrics.body).toMatch(
      /railhead_request_seconds_count\{operation="createQuote",status="429"\} 1/,
    );
  });

  it('limits only clients that send invalid secrets', async () => {
    app.effects.set(app.effects.now() + 60_000);
    const request = async (secret: string, remoteAddress: string) => {
      const encodedCredentials = Buffer.from(`${app.platform.clientId}:${secret}`).toString(
        'base64',
      );
      const headers = { authorization: `Basic ${encodedCredentials}` };
      const url = '/2025-10-13/config';
      return app.server.inject({ method: 'GET', url, headers, remoteAddress });
    };
    const validSecret = app.platform.clientSecret;
    expect((await request(validSecret, '10.1.1.1')).statusCode).toBe(200);
    const guessStatuses = [];
    for (let guess = 0; guess < 6; guess++) {
      guessStatuses.push((await request(`guess ${guess}`, '10.1.1.1')).statusCode);
    }
    expect(guessStatuses).toEqual([401, 401, 401, 401, 429, 429]);
    const rejection = await request('guess', '10.1.1.1');
    expect(rejection.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(rejection.headers['retry-after']).toBe('1');
    // A valid credential is accepted from the limited address after its cache entry has expired.
    app.effects.set(app.effects.now() + 3_000);
    for (let guess = 0; guess < 4; guess++) await request('guess', '10.1.1.1');
    expect((await request('guess', '10.1.1.1')).statusCode).toBe(429);
    expect((await request(validSecret, '10.1.1.1')).statusCode).toBe(200);
    expect((await request('guess', '10.2.2.2')).statusCode).toBe(401);
  });
});

describe('a server behind a proxy', () => {
  const rateLimits = { requests: 0, quotes: 0, rejected: 1 };
  const statusesOf = async (app: TestApp, remoteAddress: string, forwardedFor: string) => {
    const headers = { authorization: 'Basic Zzpn', 'x-forwarded-for': forwardedFor };
    const url = '/2025-10-13/config';
    const attempt = () => app.server.inject({ method: 'GET', url, headers, remoteAddress });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await attempt()).statusCode);
    return statuses;
  };
  const app = testApp({ rateLimits, trustedProxies: ['10.0.0.0/8', '::1'] });
  const appWithoutProxies = testApp({ rateLimits });

  it('uses only the address that a trusted proxy forwards', async () => {
    expect(await statusesOf(app, '10.1.1.1', '203.0.113.7')).toEqual([401, 401, 429]);
    expect(await statusesOf(app, '10.1.1.1', '203.0.113.8')).toEqual([401, 401, 429]);
    expect(await statusesOf(app, '::1', '203.0.113.7')).toEqual([429, 429, 429]);
    // Values set by the client precede those added by proxies.
    expect(await statusesOf(app, '10.1.1.1', '198.51.100.1, 203.0.113.8, 10.2.2.2')).toEqual([
      429, 429, 429,
    ]);
    expect(await statusesOf(app, '203.0.113.9', '198.51.100.1')).toEqual([401, 401, 429]);
    expect(await statusesOf(app, '203.0.113.9', '198.51.100.2')).toEqual([429, 429, 429]);
  });

  it('uses the address of the connection by default', async () => {
    expect(await statusesOf(appWithoutProxies, '10.1.1.1', '203.0.113.7')).toEqual([401, 401, 429]);
    expect(await statusesOf(appWithoutProxies, '10.1.1.1', '203.0.113.8')).toEqual([429, 429, 429]);
  });
});
