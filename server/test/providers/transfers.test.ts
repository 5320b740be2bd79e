// Transfers of a production platform that an adapter executes over the protocol: real HTTP and
// signatures in both directions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, rejects, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await addProvider(write, adapter, BANK);
  await write('POST', '/provider-routes', {
    ...{ providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' },
  });
});
afterAll(() => adapter.close());

const messagesOf = async (transactionId: string) =>
  (await read(`/provider-messages?providerId=${BANK}&limit=100`)).data.filter(
    (message: { transactionId: string }) => message.transactionId === transactionId,
  );

describe('checkProvider', () => {
  it('stores the capabilities of the provider, and keeps them if a later check fails', async () => {
    expect(await read(`/providers/${BANK}`)).toMatchObject({ capabilities: null, checkedAt: null });
    const checkedProvider = await write('POST', `/providers/${BANK}/check`);
    expect(checkedProvider).toMatchObject({
      ...{ problem: null, url: adapter.url, status: 'ACTIVE', available: true },
      capabilities: { protocol: '1', transfers: [{ rails: ['SEPA', 'SEPA_INSTANT'] }] },
    });
    const capabilitiesReply = adapter.replies['/capabilities'];
    adapter.replies['/capabilities'] = () => ({ body: { protocol: '2', transfers: [{}] } });
    const failedCheck = await write('POST', `/providers/${BANK}/check`);
    expect(failedCheck.problem).toMatch(
      /invalid body: protocol must be .*transfers\.0\.kinds is req/,
    );
    expect(failedCheck.capabilities).toEqual(checkedProvider.capabilities);
    if (capabilitiesReply) adapter.replies['/capabilities'] = capabilitiesReply;
    await write('POST', `/providers/${BANK}/check`);
  });
});

describe('a payout', () => {
  it('is sent once to its provider, settled by a message, and returned days later', async () => {
    const { id } = await service.createPayment();
    expect(adapter.transfers.get(id)).toMatchObject({
      ...{ kind: 'payout', currency: 'EUR', count: 1, beneficiaryName: 'Grace Hopper' },
      ...{ account: { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' } },
      reference: expect.stringMatching(/^RH[0-9A-F]{32}$/),
    });
    expect(await service.readQueue(id)).toEqual([]);
    expect(await service.readStatus(id)).toBe('PROCESSING - -');
    const settledMessage = {
      ...{ type: 'transfer.updated', transferId: id, id: `${id}-settled` },
      transfer: { state: 'settled', reference: 'BANK-1' },
    };
    expect(await adapter.send(BANK, settledMessage)).toEqual({
      status: 200,
      body: { result: 'APPLIED' },
    });
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    expect((await adapter.send(BANK, settledMessage)).body).toEqual({ result: 'DUPLICATE' });
    const returnMessage = {
      ...settledMessage,
      transfer: { state: 'returned', reason: 'ACCOUNT_INVALID' },
    };
    expect(await adapter.send(BANK, returnMessage)).toMatchObject({ status: 409 });
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    await service.app.advance(2 * DAY);
    const returnedMessage = { ...returnMessage, id: `${id}-returned` };
    expect((await adapter.send(BANK, returnedMessage)).body).toEqual({ result: 'APPLIED' });
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect((await adapter.send(BANK, { ...returnedMessage, id: 'again' })).body).toEqual({
      result: 'IGNORED',
    });
    const results = (await messagesOf(id)).map((message: { result: string }) => message.result);
    expect(results.sort()).toEqual(['APPLIED', 'APPLIED', 'IGNORED']);
  });

  it('is retried with the same ID and provider after a lost reply', async () => {
    const sendReply = adapter.replies['/transfers/send'];
    adapter.replies['/transfers/send'] = () => null;
    const { id } = await service.createPayment();
    const { count } = adapter.transfers.get(id);
    expect(await service.readStatus(id)).toBe('PROCESSING - -');
    await write('POST', `/providers/${BANK}/pause`);
    if (sendReply) adapter.replies['/transfers/send'] = sendReply;
    await service.app.advance(3_600_000);
    expect(adapter.transfers.get(id).count).toBeGreaterThan(count);
    expect(await service.readQueue(id)).toEqual([]);
    await write('POST', `/providers/${BANK}/resume`);
    const state = { state: 'settled', reference: 'BANK-2' };
    adapter.replies['/transfers/state'] = () => ({ body: state });
    await service.app.advance(DAY);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    adapter.replies['/transfers/state'] = () => ({
      body: { state: 'accepted', checkAfterSeconds: 43_200 },
    });
  });

  it('continues after an outage of two days', async () => {
    const { '/transfers/send': sendReply, '/transfers/state': stateReply } = adapter.replies;
    const unavailableReply = () => ({ status: 503, body: {} });
    const payment = await service.createPayment();
    Object.assign(adapter.replies, {
      '/transfers/send': unavailableReply,
      '/transfers/state': unavailableReply,
    });
    const unsentPayment = await service.createPayment();
    await service.app.advance(2 * DAY);
    expect(await service.readStatus(unsentPayment.id)).toBe('PROCESSING - -');
    const settledReply = () => ({ body: { state: 'settled', reference: 'BANK-9' } });
    Object.assign(adapter.replies, {
      '/transfers/send': settledReply,
      '/transfers/state': settledReply,
    });
    await service.app.advance(2 * 3_600_000);
    expect(await service.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(await service.readStatus(unsentPayment.id)).toBe('COMPLETED - -');
    Object.assign(adapter.replies, {
      '/transfers/send': sendReply,
      '/transfers/state': stateReply,
    });
  });

  it('is executed by the built-in rail while the provider is paused', async () => {
    await write('POST', `/providers/${BANK}/pause`);
    const { id } = await service.createPayment();
    expect(adapter.transfers.has(id)).toBe(false);
    expect(await service.readQueue(id)).toHaveLength(1);
    await write('POST', `/providers/${BANK}/resume`);
    await service.runJson('payouts', 'settle', id);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
  });

  it('fails with the reason that the provider reports, and the payer is refunded', async () => {
    const { id } = await service.createPayment();
    const transfer = { state: 'failed', reason: 'ACCOUNT_CANNOT_RECEIVE' };
    const message = { type: 'transfer.updated', transferId: id, transfer };
    expect((await adapter.send(BANK, message)).body).toEqual({ result: 'APPLIED' });
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_CANNOT_RECEIVE');
  });

  it('is unchanged by contradictory messages, which are listed for operators', async () => {
    const { id } = await service.createPayment();
    const settledMessageOf = (fields: object) => ({
      ...{ type: 'transfer.updated', transferId: id, ...fields },
      transfer: { state: 'settled', reference: 'BANK-3' },
    });
    const otherAmountReply = await adapter.send(
      BANK,
      settledMessageOf({ amount: 1, currency: 'EUR' }),
    );
    expect(otherAmountReply).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(otherAmountReply.body.message).toContain('The message has 1 EUR, but the transfer has');
    expect(await service.readStatus(id)).toBe('PROCESSING - -');
    expect((await adapter.send(BANK, settledMessageOf({}))).status).toBe(200);
    const lateFailure = {
      ...settledMessageOf({}),
      transfer: { state: 'failed', reason: 'LIMIT_EXCEEDED' },
    };
    expect((await adapter.send(BANK, lateFailure)).status).toBe(409);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    const list = await read('/provider-messages?result=CONTRADICTORY');
    const problems = list.data.map((message: { problem: string }) => message.problem);
    // The order is undefined, because both messages arrived in the same millisecond.
    expect(problems.slice(0, 2).sort()).toEqual([
      otherAmountReply.body.message,
      'The reported state is failed, but the payment is COMPLETED.',
    ]);
  });
});

describe('explainProviderRoute', () => {
  it('returns the provider and the verdict of each route', async () => {
    const lowRoute = await write('POST', '/provider-routes', {
      ...{ providerId: null, environment: 'production', priority: 20 },
    });
    const platformQuery = `environment=production&platformId=${service.platform.id}`;
    const explain = (fields: string) =>
      read(`/provider-routes/choice?${platformQuery}&kind=payout&${fields}`);
    const verdictsOf = ({ routes }: { routes: { verdict: string }[] }) =>
      routes.map((route) => route.verdict);
    const euroChoice = await explain('currency=EUR&rail=SEPA&amount=100');
    expect(euroChoice.providerId).toBe(BANK);
    expect(verdictsOf(euroChoice)).toEqual(['SELECTED', 'LOWER_PRIORITY']);
    const dollarChoice = await explain('currency=USD&amount=100');
    expect(dollarChoice).toMatchObject({ providerId: null, routeId: lowRoute.routeId });
    expect(verdictsOf(dollarChoice)).toEqual(['OTHER_TRANSFERS', 'SELECTED']);
    const wireChoice = await explain('currency=EUR&rail=SWIFT&amount=100');
    expect(verdictsOf(wireChoice)).toEqual(['NOT_OFFERED', 'SELECTED']);
    await write('DELETE', `/provider-routes/${lowRoute.routeId}`);
    await rejects(404, 'NOT_FOUND', 'DELETE', `/provider-routes/${lowRoute.routeId}`);
  });
});
