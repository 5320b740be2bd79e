// Circuit breakers against real servers: opening, closing, calls while open, and responses that count as no
// failure.
import { afterEach, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { startHanging } from '../../../test/kit/http/hanging-servers.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import { type CircuitChange, createCircuits, MAX_FAILURES, OPEN_MS } from './circuits.ts';

const server = openForFile(startHanging);
afterEach(() => server.respondWith(undefined));

function createFixture() {
  const effects = testEffects();
  const changes: CircuitChange[] = [];
  const circuits = createCircuits(effects.now, (change) => changes.push(change));
  const smsEffects = circuits.effects(effects, 'sms');
  const options = { method: 'GET', headers: {}, maxBytes: 100, publicOnly: false } as const;
  const request = (url = server.url, timeoutMs = 1_000) =>
    smsEffects.http({ url, timeoutMs, ...options }).then(
      ({ status }) => String(status),
      (error: unknown) => circuitOpenIn(error)?.code ?? (error as { code: string }).code,
    );
  const requestMany = async (count: number) => {
    const results: string[] = [];
    for (let index = 0; index < count; index++) results.push(await request());
    return results;
  };
  return { effects, circuits, smsEffects, changes, request, requestMany };
}

const OPEN_CODE = 'ECIRCUITOPEN';

describe('circuit breaker', () => {
  it('opens after calls without a response, and rejects calls to the origin', async () => {
    const { request, circuits, changes, effects, smsEffects } = createFixture();
    const results = [];
    for (let index = 0; index < MAX_FAILURES; index++) results.push(await request(server.url, 30));
    expect(results).toEqual(Array(MAX_FAILURES).fill('ETIMEDOUT'));
    const requestsBefore = server.requests();
    expect([await request(), await request()]).toEqual([OPEN_CODE, OPEN_CODE]);
    expect(server.requests()).toBe(requestsBefore);
    expect(changes).toEqual([{ provider: 'sms', state: 'open', failures: MAX_FAILURES }]);
    expect([...circuits.states()]).toEqual([['sms', 'open']]);
    const result = await smsEffects
      .call({ timeoutMs: 50 }, () => Promise.resolve(1))
      .catch((each: unknown) => each);
    // A circuit applies to one origin. Library calls have another origin.
    expect(result).toBe(1);
    expect(effects.now()).toBe(testEffects().now());
  });

  it('opens on server errors and ignores rejections', async () => {
    const circuitFixture = createFixture();
    for (const status of [400, 401, 404, 422, 429]) {
      server.respondWith(status);
      expect(await circuitFixture.requestMany(2)).toEqual([String(status), String(status)]);
    }
    server.respondWith(503);
    expect(await circuitFixture.requestMany(6)).toEqual([...Array(5).fill('503'), OPEN_CODE]);
  });

  it('counts consecutive failures only', async () => {
    const { requestMany, circuits } = createFixture();
    for (let round = 0; round < 3; round++) {
      server.respondWith(500);
      await requestMany(MAX_FAILURES - 1);
      server.respondWith(200);
      await requestMany(1);
    }
    expect([...circuits.states()]).toEqual([['sms', 'closed']]);
  });

  it('sends one probe after a pause and closes if the probe succeeds', async () => {
    const { request, requestMany, effects, changes } = createFixture();
    server.respondWith(500);
    await requestMany(MAX_FAILURES);
    server.respondWith(200);
    effects.set(effects.now() + OPEN_MS - 1);
    expect(await request()).toBe(OPEN_CODE);
    effects.set(effects.now() + 1);
    const results = await Promise.all([request(), request(), request()]);
    expect(results).toEqual(['200', OPEN_CODE, OPEN_CODE]);
    expect(await requestMany(2)).toEqual(['200', '200']);
    expect(changes.map(({ state }) => state)).toEqual(['open', 'half-open', 'closed']);
  });

  it('opens again if its probe fails', async () => {
    const { request, requestMany, effects, changes } = createFixture();
    server.respondWith(500);
    await requestMany(MAX_FAILURES);
    effects.set(effects.now() + OPEN_MS);
    expect(await requestMany(2)).toEqual(['500', OPEN_CODE]);
    effects.set(effects.now() + OPEN_MS - 1);
    expect(await request()).toBe(OPEN_CODE);
    expect(changes.map(({ state }) => state)).toEqual(['open', 'half-open', 'open']);
  });

  it('applies to one provider', async () => {
    const { circuits, requestMany, effects } = createFixture();
    server.respondWith(500);
    await requestMany(MAX_FAILURES);
    const otherEffects = circuits.effects(effects, 'rates');
    const request = { url: server.url, method: 'GET', headers: {} } as const;
    const limits = { timeoutMs: 1_000, maxBytes: 100, publicOnly: false };
    expect((await otherEffects.http({ ...request, ...limits })).status).toBe(500);
    expect([...circuits.states()]).toEqual([
      ['sms', 'open'],
      ['rates', 'closed'],
    ]);
  });

  it('counts a stalled body and a library call without a response as failures', async () => {
    const { circuits, effects } = createFixture();
    const headServer = await startHanging('head');
    const storage = circuits.effects(effects, 'storage', 1);
    const limits = { timeoutMs: 50, deadlineMs: 200 };
    const reply = await storage.stream({
      url: headServer.url,
      method: 'GET',
      headers: {},
      ...limits,
    });
    const readPromise = (async () => {
      for await (const _ of reply.body);
    })();
    await expect(readPromise).rejects.toThrow();
    await headServer.close();
    const smtp = circuits.effects(effects, 'smtp', 1);
    const isValidResponse = (error: unknown) => (error as Error).message === '550';
    const failWith = (message: string) => () => Promise.reject(new Error(message));
    await expect(smtp.call({ timeoutMs: 100, isValidResponse }, failWith('550'))).rejects.toThrow(
      '550',
    );
    expect(circuits.states().get('smtp')).toBe('closed');
    await expect(
      smtp.call({ timeoutMs: 100, isValidResponse }, failWith('connection closed')),
    ).rejects.toThrow('connection closed');
    expect([...circuits.states()].slice(1)).toEqual([
      ['storage', 'open'],
      ['smtp', 'open'],
    ]);
  });
});
