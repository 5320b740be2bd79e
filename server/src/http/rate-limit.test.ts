// Limits by themselves, with a clock moved by hand, and then as clients meet them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { externalAccount, fundedCustomer, quoteBody } from '../../test/fixtures.ts';
import { startApp, type TestApp } from '../../test/harness.ts';
import { createLimiter, neighbourhood, type RateLimits } from './rate-limit.ts';

const OFF: RateLimits = { requests: 0, costly: 0, refused: 0 };

function tokenLimiter(limits: Partial<RateLimits>) {
  let now = 1_000_000;
  const refusals: string[] = [];
  const limiter = createLimiter(
    { ...OFF, ...limits },
    () => now,
    (limit) => refusals.push(limit),
  );
  let headers: Record<string, string> = {};
  return {
    refusals,
    limiter,
    headers: () => headers,
    wait(ms: number) {
      now += ms;
    },
    /** Whether the request may go on, or after how many seconds to come back. */
    ask(token = 'a', costly = false): true | number | undefined {
      headers = {};
      try {
        limiter.admit({ header: (name, value) => (headers[name] = value) }, token, costly);
        return true;
      } catch (error) {
        return (error as { retryAfterS?: number }).retryAfterS;
      }
    },
  };
}

const asked = (count: number, ask: () => unknown) => Array.from({ length: count }, ask);
const yes = (count: number) => Array<true>(count).fill(true);

describe('createLimiter', () => {
  it('lets two seconds through at once, and then an even pace', () => {
    const { ask, wait } = tokenLimiter({ requests: 10 });
    expect(asked(21, () => ask())).toEqual([...yes(20), 1]);
    wait(99);
    expect(ask()).toBe(1);
    wait(1);
    expect(asked(2, () => ask())).toEqual([true, 1]);
    wait(500);
    expect(asked(6, () => ask())).toEqual([...yes(5), 1]);
    wait(3_600_000);
    expect(asked(21, () => ask())).toEqual([...yes(20), 1]);
  });

  it('tells what is left and when all of it is back', () => {
    const { ask, wait, headers } = tokenLimiter({ requests: 2 });
    ask();
    expect(headers()).toEqual({
      'RateLimit-Limit': '4',
      'RateLimit-Remaining': '3',
      'RateLimit-Reset': '1',
      'RateLimit-Policy': '4;w=2',
    });
    asked(4, () => ask());
    expect(headers()).toMatchObject({ 'RateLimit-Remaining': '0', 'RateLimit-Reset': '2' });
    wait(1_000);
    ask();
    expect(headers()).toMatchObject({ 'RateLimit-Remaining': '1', 'RateLimit-Reset': '2' });
  });

  it('counts each token by itself', () => {
    const { ask } = tokenLimiter({ requests: 1 });
    expect(asked(3, () => ask('a'))).toEqual([true, true, 1]);
    expect(ask('b')).toBe(true);
  });

  it('has a second, tighter limit for what costs more, and tells of the tighter one', () => {
    const { ask, headers, refusals } = tokenLimiter({ requests: 10, costly: 1 });
    expect(asked(3, () => ask('a', true))).toEqual([true, true, 1]);
    expect(headers()['RateLimit-Limit']).toBe('2');
    expect(refusals).toEqual(['costly']);
    // They counted among all, too.
    expect(asked(18, () => ask())).toEqual([...yes(17), 1]);
    expect(headers()['RateLimit-Limit']).toBe('20');
    expect(refusals).toEqual(['costly', 'requests']);
    expect(ask('a', true)).toBe(1);
    expect(headers()['RateLimit-Limit']).toBe('20');
  });

  it('sets no limit, and no header, where it is 0', () => {
    const { ask, headers, limiter } = tokenLimiter({});
    expect(asked(1_000, () => ask('a', true))).toEqual(yes(1_000));
    expect(headers()).toEqual({});
    for (let bad = 0; bad < 1_000; bad++) limiter.blame('10.0.0.1');
    limiter.checkAddress('10.0.0.1', () => false);
  });

  it('stands a clock that goes back', () => {
    const { ask, wait } = tokenLimiter({ requests: 1 });
    asked(3, () => ask());
    wait(-60_000);
    expect(ask()).toBe(1);
    wait(1_000);
    expect(ask()).toBe(true);
  });

  it('forgets who was quiet for longest, not who is asking', () => {
    const { ask } = tokenLimiter({ requests: 1 });
    asked(3, () => ask('steady'));
    for (let other = 0; other < 9_999; other++) ask(`token ${other}`);
    expect(ask('steady')).toBe(1);
    asked(9_999, () => ask(`more ${Math.random()}`));
    expect(ask('steady')).toBe(1);
    for (let other = 0; other < 10_000; other++) ask(`last ${other}`);
    expect(ask('steady')).toBe(true);
  });

  it('refuses an address after bad credentials, proven ones excepted', () => {
    const { limiter, wait, refusals } = tokenLimiter({ refused: 1 });
    const check =
      (address: string, proven = false) =>
      () =>
        limiter.checkAddress(address, () => proven);
    for (let bad = 0; bad < 2; bad++) {
      check('10.0.0.1')();
      limiter.blame('10.0.0.1');
    }
    expect(check('10.0.0.1')).toThrow('credentials');
    expect(refusals).toEqual(['refused']);
    check('10.0.0.1', true)();
    check('10.0.0.2')();
    wait(1_000);
    check('10.0.0.1')();
  });
});

describe('neighbourhood', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['1::2:3:4:5:6:7', '1:0:2:3'],
    ['::1', '0:0:0:0'],
    ['fe80::', 'fe80:0:0:0'],
  ])('%s is in %s', (address, block) => expect(neighbourhood(address)).toBe(block));
});

describe('a server with limits', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ rateLimits: { requests: 20, costly: 1, refused: 2 } });
  });
  afterAll(() => app.close());

  it('tells of them with every reply to good credentials, refusals too', async () => {
    const names = ['limit', 'remaining', 'reset', 'policy'].map((each) => `ratelimit-${each}`);
    const viewer = await app.tokenWith(['VIEW']);
    for (const answer of [
      await app.call('GET', '/config'),
      await app.call('GET', '/quotes/none'),
      await app.call('POST', '/quotes', {}),
      await app.call('POST', '/tokens', {}, { as: viewer }),
    ]) {
      for (const name of names) expect(answer.headers[name], name).toBeDefined();
    }
    const stranger = await app.call('GET', '/config', undefined, { as: null });
    for (const name of names) expect(stranger.headers[name], name).toBeUndefined();
  });

  it('keeps a refusal under no idempotency key, and counts it', async () => {
    const { person, account } = await fundedCustomer(app);
    const payee = await externalAccount(app, person.id, 'EUR');
    const headers = { 'Idempotency-Key': 'once' };
    const body = quoteBody(account.id, payee.id, 100_00);
    app.world.set(app.world.now() + 60_000);
    for (let other = 0; other < 2; other++) await app.call('POST', '/quotes', body);
    const refused = await app.call('POST', '/quotes', body, { headers });
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.body).toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    app.world.set(app.world.now() + 1_000);
    const later = await app.call('POST', '/quotes', body, { headers });
    expect([later.status, later.headers['idempotency-replayed']]).toEqual([201, undefined]);
    const metrics = await app.server.inject('/metrics');
    expect(metrics.body).toContain('railhead_rate_limited_total{limit="costly"} 1');
    expect(metrics.body).toMatch(
      /railhead_request_seconds_count\{operation="createQuote",status="429"\} 1/,
    );
  });

  it('slows down who guesses secrets, and nobody who knows one', async () => {
    app.world.set(app.world.now() + 60_000);
    const ask = async (secret: string, remoteAddress: string) => {
      const login = Buffer.from(`${app.platform.clientId}:${secret}`).toString('base64');
      const headers = { authorization: `Basic ${login}` };
      const url = '/2025-10-13/config';
      return app.server.inject({ method: 'GET', url, headers, remoteAddress });
    };
    const good = app.platform.clientSecret;
    expect((await ask(good, '10.1.1.1')).statusCode).toBe(200);
    const guesses = [];
    for (let guess = 0; guess < 6; guess++) {
      guesses.push((await ask(`guess ${guess}`, '10.1.1.1')).statusCode);
    }
    expect(guesses).toEqual([401, 401, 401, 401, 429, 429]);
    const refused = await ask('guess', '10.1.1.1');
    expect(refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(refused.headers['retry-after']).toBe('1');
    // Known here, though it has to be looked up again.
    app.world.set(app.world.now() + 3_000);
    for (let guess = 0; guess < 4; guess++) await ask('guess', '10.1.1.1');
    expect((await ask('guess', '10.1.1.1')).statusCode).toBe(429);
    expect((await ask(good, '10.1.1.1')).statusCode).toBe(200);
    expect((await ask('guess', '10.2.2.2')).statusCode).toBe(401);
  });
});

describe('a server behind a proxy', () => {
  let app: TestApp;
  const proxied = async (remoteAddress: string, forwarded: string) => {
    const headers = { authorization: 'Basic Zzpn', 'x-forwarded-for': forwarded };
    const url = '/2025-10-13/config';
    const guess = () => app.server.inject({ method: 'GET', url, headers, remoteAddress });
    const said = [];
    for (let times = 0; times < 3; times++) said.push((await guess()).statusCode);
    return said;
  };
  const start = async (trustedProxies?: readonly string[]) => {
    app = await startApp({ rateLimits: { requests: 0, costly: 0, refused: 1 }, trustedProxies });
  };
  afterEach(() => app.close());

  it('goes by the address that a trusted one tells of, and by no other', async () => {
    await start(['10.0.0.0/8', '::1']);
    expect(await proxied('10.1.1.1', '203.0.113.7')).toEqual([401, 401, 429]);
    expect(await proxied('10.1.1.1', '203.0.113.8')).toEqual([401, 401, 429]);
    expect(await proxied('::1', '203.0.113.7')).toEqual([429, 429, 429]);
    // What the client itself has written stands before what the proxies have added.
    expect(await proxied('10.1.1.1', '198.51.100.1, 203.0.113.8, 10.2.2.2')).toEqual([
      429, 429, 429,
    ]);
    expect(await proxied('203.0.113.9', '198.51.100.1')).toEqual([401, 401, 429]);
    expect(await proxied('203.0.113.9', '198.51.100.2')).toEqual([429, 429, 429]);
  });

  it('believes nobody unless told to', async () => {
    await start();
    expect(await proxied('10.1.1.1', '203.0.113.7')).toEqual([401, 401, 429]);
    expect(await proxied('10.1.1.1', '203.0.113.8')).toEqual([429, 429, 429]);
  });
});
