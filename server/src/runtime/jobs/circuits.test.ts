// Circuits against real servers: what opens and closes one, that an open one makes no call, and which
// answers are none of its failures.
import { afterEach, describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { opened } from '../../../test/kit/app/test-app.ts';
import { startHanging } from '../../../test/kit/http/hanging-servers.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import { type CircuitChange, createCircuits, MAX_FAILURES, OPEN_MS } from './circuits.ts';

const server = opened(startHanging);
afterEach(() => server.answer(undefined));

function fixture() {
  const effects = testEffects();
  const changes: CircuitChange[] = [];
  const circuits = createCircuits(effects.now, (change) => changes.push(change));
  const door = circuits.effects(effects, 'sms');
  const rest = { method: 'GET', headers: {}, maxBytes: 100, publicOnly: false } as const;
  const ask = (url = server.url, timeoutMs = 1_000) =>
    door.http({ url, timeoutMs, ...rest }).then(
      ({ status }) => String(status),
      (error: unknown) => circuitOpenIn(error)?.code ?? (error as { code: string }).code,
    );
  const asks = async (count: number) => {
    const said: string[] = [];
    for (let at = 0; at < count; at++) said.push(await ask());
    return said;
  };
  return { effects, circuits, door, changes, ask, asks };
}

const OPEN = 'ECIRCUITOPEN';

describe('a circuit', () => {
  it('opens after some calls in a row without an answer, and then makes no call', async () => {
    const { ask, circuits, changes, effects, door } = fixture();
    const said = [];
    for (let at = 0; at < MAX_FAILURES; at++) said.push(await ask(server.url, 30));
    expect(said).toEqual(Array(MAX_FAILURES).fill('ETIMEDOUT'));
    const before = server.requests();
    expect([await ask(), await ask()]).toEqual([OPEN, OPEN]);
    expect(server.requests()).toBe(before);
    expect(changes).toEqual([{ provider: 'sms', state: 'open', failures: MAX_FAILURES }]);
    expect([...circuits.states()]).toEqual([['sms', 'open']]);
    const error = await door
      .call({ timeoutMs: 50 }, () => Promise.resolve(1))
      .catch((each: unknown) => each);
    // A circuit is of one origin: what a library calls is another.
    expect(error).toBe(1);
    expect(effects.now()).toBe(testEffects().now());
  });

  it('opens by answers that say that the provider has trouble, and not by refusals', async () => {
    const refusing = fixture();
    for (const status of [400, 401, 404, 422, 429]) {
      server.answer(status);
      expect(await refusing.asks(2)).toEqual([String(status), String(status)]);
    }
    server.answer(503);
    expect(await refusing.asks(6)).toEqual([...Array(5).fill('503'), OPEN]);
  });

  it('counts failures in a row alone', async () => {
    const { asks, circuits } = fixture();
    for (let round = 0; round < 3; round++) {
      server.answer(500);
      await asks(MAX_FAILURES - 1);
      server.answer(200);
      await asks(1);
    }
    expect([...circuits.states()]).toEqual([['sms', 'closed']]);
  });

  it('makes one probe after a while and closes when it is answered', async () => {
    const { ask, asks, effects, changes } = fixture();
    server.answer(500);
    await asks(MAX_FAILURES);
    server.answer(200);
    effects.set(effects.now() + OPEN_MS - 1);
    expect(await ask()).toBe(OPEN);
    effects.set(effects.now() + 1);
    const said = await Promise.all([ask(), ask(), ask()]);
    expect(said).toEqual(['200', OPEN, OPEN]);
    expect(await asks(2)).toEqual(['200', '200']);
    expect(changes.map(({ state }) => state)).toEqual(['open', 'half-open', 'closed']);
  });

  it('is open again when its probe fails', async () => {
    const { ask, asks, effects, changes } = fixture();
    server.answer(500);
    await asks(MAX_FAILURES);
    effects.set(effects.now() + OPEN_MS);
    expect(await asks(2)).toEqual(['500', OPEN]);
    effects.set(effects.now() + OPEN_MS - 1);
    expect(await ask()).toBe(OPEN);
    expect(changes.map(({ state }) => state)).toEqual(['open', 'half-open', 'open']);
  });

  it('is of one provider and one origin', async () => {
    const { circuits, asks, effects } = fixture();
    server.answer(500);
    await asks(MAX_FAILURES);
    const other = circuits.effects(effects, 'rates');
    const request = { url: server.url, method: 'GET', headers: {} } as const;
    const limits = { timeoutMs: 1_000, maxBytes: 100, publicOnly: false };
    expect((await other.http({ ...request, ...limits })).status).toBe(500);
    expect([...circuits.states()]).toEqual([
      ['sms', 'open'],
      ['rates', 'closed'],
    ]);
  });

  it('counts a body that stalls and a library that gets no answer', async () => {
    const { circuits, effects } = fixture();
    const head = await startHanging('head');
    const storage = circuits.effects(effects, 'storage', 1);
    const limits = { timeoutMs: 50, deadlineMs: 200 };
    const reply = await storage.stream({ url: head.url, method: 'GET', headers: {}, ...limits });
    const reading = (async () => {
      for await (const _ of reply.body);
    })();
    await expect(reading).rejects.toThrow();
    await head.close();
    const smtp = circuits.effects(effects, 'smtp', 1);
    const isAnswer = (error: unknown) => (error as Error).message === '550';
    const says = (message: string) => () => Promise.reject(new Error(message));
    await expect(smtp.call({ timeoutMs: 100, isAnswer }, says('550'))).rejects.toThrow('550');
    expect(circuits.states().get('smtp')).toBe('closed');
    await expect(smtp.call({ timeoutMs: 100, isAnswer }, says('gone'))).rejects.toThrow('gone');
    expect([...circuits.states()].slice(1)).toEqual([
      ['storage', 'open'],
      ['smtp', 'open'],
    ]);
  });
});
