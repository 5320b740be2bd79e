// Firm quotes of a provider, which holds a rate and exchanges the funds when the quote is executed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, quoteBody } from '../kit/app/fixtures.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, write } = operatorService();
const DEALER = 'fx-dealer';
const [QUOTE_PATH, REDEEM_PATH] = ['/rates/quote', '/rates/redeem'];
let adapter: Adapter;
let payer: Awaited<ReturnType<typeof service.createPayer>>;
let payeeId: string;
/** Bodies of the calls, by path. */
const receivedBodies = new Map<string, Record<string, unknown>[]>();

type Call = Record<string, number>;

function reply(path: string, body: ((call: Call) => object) | null) {
  adapter.replies[path] = (call) => {
    receivedBodies.set(path, [...(receivedBodies.get(path) ?? []), call]);
    return body ? { body: body(call) } : { status: 503, body: {} };
  };
}

const timeAfter = (seconds: number) =>
  new Date(service.app.effects.now() + seconds * 1_000).toISOString();

const replyWithQuote = (rate: string, seconds = 30) =>
  reply(QUOTE_PATH, () => ({
    ...{ result: 'quoted', reference: 'FX-1', rate, expiresAt: timeAfter(seconds) },
  }));
const replyWithRedemption = () =>
  reply(REDEEM_PATH, ({ soldAmount, boughtAmount }) => ({
    ...{ state: 'redeemed', reference: 'DEAL-1', soldAmount, boughtAmount },
  }));

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  adapter.replies['/capabilities'] = () => ({
    body: { protocol: '1', services: ['firm_quotes'] },
  });
  await addProvider(write, adapter, DEALER);
  await write('POST', `/providers/${DEALER}/check`);
  await write('POST', '/provider-routes', {
    ...{ providerId: DEALER, environment: 'production', priority: 10, kind: 'firm_quotes' },
  });
  payer = await service.createPayer('10000.00');
  payeeId = await service.createPayee(payer.person.id);
  replyWithRedemption();
});
afterAll(() => adapter.close());

const createQuote = async (fields: object = {}) => {
  const body = { ...quoteBody(payer.account, payeeId, 100_00), ...fields };
  return ok(await service.app.call('POST', '/quotes', body, service.callOptions), 201);
};

const execute = (id: string) =>
  service.app.call('POST', `/quotes/${id}/execute`, undefined, {
    ...service.callOptions,
    headers: { 'idempotency-key': `execute ${id}` },
  });

/** The `firmQuote` of a quote in the operator API, or null if it has none. */
const firmQuoteOf = async (id: string) =>
  (await read('/quotes?limit=100')).data.find((quote: { id: string }) => quote.id === id).firmQuote;

describe('a firm quote', () => {
  it('sets the price and the expiry, and is redeemed once by the execution', async () => {
    replyWithQuote('2.5');
    const quote = await createQuote();
    expect(quote.expiresAt).toBe(timeAfter(30));
    const [request] = receivedBodies.get(QUOTE_PATH) ?? [];
    // The fees are deducted before the exchange.
    const soldAmount = 100_00 - quote.feesIncluded;
    expect(request).toEqual({
      ...{ quoteId: quote.id, from: 'USD', to: 'EUR', side: 'SELL', amount: soldAmount },
    });
    expect(quote.totalReceivingAmount).toBe(Math.floor(soldAmount * 2.5));
    expect(await firmQuoteOf(quote.id)).toMatchObject({
      ...{ providerId: DEALER, reference: 'FX-1', state: 'HELD', result: null },
    });
    await service.app.settle();
    expect(receivedBodies.get(REDEEM_PATH)).toBe(undefined);
    reply(REDEEM_PATH, null);
    ok(await execute(quote.id), 200);
    await service.app.settle();
    expect(await firmQuoteOf(quote.id)).toMatchObject({ state: 'HELD' });
    reply(REDEEM_PATH, () => ({ state: 'pending' }));
    await service.app.advance(60_000);
    replyWithRedemption();
    await service.app.advance(900_000);
    expect(await firmQuoteOf(quote.id)).toMatchObject({
      ...{ state: 'REDEEMED', result: 'DEAL-1', sold: { amount: soldAmount, currency: 'USD' } },
      bought: { amount: quote.totalReceivingAmount, currency: 'EUR' },
    });
    const calls = receivedBodies.get(REDEEM_PATH) ?? [];
    expect(calls.length).toBeGreaterThan(2);
    expect(new Set(calls.map((call) => JSON.stringify(call))).size).toBe(1);
  });

  it('of a fixed receiving amount buys exactly this amount', async () => {
    replyWithQuote('2');
    const quote = await createQuote({ lockedCurrencySide: 'RECEIVING' });
    expect(receivedBodies.get(QUOTE_PATH)?.at(-1)).toMatchObject({ side: 'BUY', amount: 100_00 });
    // The amount is rounded in favor of the FX position.
    expect([50_00, 50_01]).toContain(quote.totalSendingAmount - quote.feesIncluded);
  });

  it('that expires is neither executed nor redeemed', async () => {
    replyWithQuote('2.5', 10);
    const { id } = await createQuote();
    const count = receivedBodies.get(REDEEM_PATH)?.length;
    await service.app.advance(11_000);
    expect((await execute(id)).body.code).toBe('QUOTE_EXPIRED');
    await service.app.advance(60_000);
    expect(receivedBodies.get(REDEEM_PATH)).toHaveLength(count ?? 0);
    expect(await firmQuoteOf(id)).toMatchObject({ state: 'HELD' });
  });

  it.each([
    ['rejects it', () => ({ state: 'rejected', reason: 'EXPIRED' }), 'REJECTED', 'EXPIRED'],
    [
      'exchanges another amount',
      ({ soldAmount }: Call) => ({
        ...{ state: 'redeemed', reference: 'DEAL-2', soldAmount, boughtAmount: 1 },
      }),
      'DIFFERENT',
      /^DEAL-2: \d+ for 1$/,
    ],
  ] as const)(
    'keeps the price of the customer if the provider %s',
    async (_, body, state, expectedResult) => {
      replyWithQuote('2.5');
      reply(REDEEM_PATH, body);
      const quote = await createQuote();
      ok(await execute(quote.id), 200);
      await service.app.settle();
      const firmQuote = await firmQuoteOf(quote.id);
      expect(firmQuote).toMatchObject({ state, endedAt: expect.any(String) });
      expect(firmQuote.result).toMatch(expectedResult);
      const path = `/quotes/${quote.id}`;
      const { body: executedQuote } = await service.app.call(
        'GET',
        path,
        undefined,
        service.callOptions,
      );
      expect(executedQuote).toMatchObject({
        ...{ status: 'PROCESSING', totalReceivingAmount: quote.totalReceivingAmount },
      });
      replyWithRedemption();
    },
  );
});

describe('the mid rates', () => {
  it.each([
    ['offers no quote', () => ({ result: 'unavailable' })],
    ['does not respond', null],
    [
      'holds the rate for too short a time',
      () => ({ result: 'quoted', reference: 'FX', rate: '9', expiresAt: timeAfter(1) }),
    ],
  ] as const)('apply if the provider %s', async (_, body) => {
    reply(QUOTE_PATH, body);
    const quote = await createQuote();
    expect(quote.totalReceivingAmount).toBeLessThan(100_00);
    expect(await firmQuoteOf(quote.id)).toBe(null);
    const count = receivedBodies.get(REDEEM_PATH)?.length;
    ok(await execute(quote.id), 200);
    await service.app.settle();
    expect(receivedBodies.get(REDEEM_PATH)).toHaveLength(count ?? 0);
  });
});
