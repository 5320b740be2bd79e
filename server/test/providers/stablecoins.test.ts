// Mints at a provider, in production: real signed HTTP in both directions, and the circulating
// supply in the ledger.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { openOnboarding } from '../kit/customers/onboarding.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { DOLLAR, mintFixture } from '../kit/payments/mints.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const MINUTE = 60_000;
const WIRE = { rail: 'WIRE', network: 'FEDWIRE', address: '12345678', valueType: 'USD' };
const TOKEN = {
  ...{ result: 'found', name: 'Acme Dollar', symbol: 'ACME', decimals: 6, baseCurrency: 'USD' },
  ...{ issuance: 'PROVISIONED', supply: '0' },
};

let harness: Awaited<ReturnType<typeof openOnboarding>>;
let fixture: ReturnType<typeof mintFixture>;
let issuer: Adapter;
let wallet: { id: string };
let coin: { id: string };
/** Bodies of the calls, by path. */
const receivedBodies = new Map<string, Record<string, unknown>[]>();

const write = async (method: string, path: string, body?: object) => {
  const reply = await operatorClient(harness.app).call(method, path, { body });
  expect(reply.status < 300 ? 'done' : reply.body).toBe('done');
  return reply.body;
};

/** The provider responds with this body. Null closes the connection after the call. */
function setReply(path: string, body: object | null, status = 200) {
  issuer.replies[path] = (call) => {
    receivedBodies.set(path, [...(receivedBodies.get(path) ?? []), call]);
    return body === null ? null : { status, body };
  };
}

const orderState = (name: string, fields: object = {}) => ({
  ...{ state: name, providerStatus: `acme ${name}`, ...fields },
});
const pendingState = (name: string) => orderState(name, { checkAfterSeconds: 3_600 });

const createRoute = (providerId: string, priority: number) =>
  write('POST', '/provider-routes', {
    ...{ providerId, environment: 'production', priority, kind: 'stablecoins' },
  });

async function orderMint(dollars = 10n) {
  const amount = String(dollars * DOLLAR);
  return ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id, { amount })), 201);
}

const report = (orderId: string, order: object, fields: object = {}) =>
  issuer.send('issuer', { type: 'stablecoin.order', orderId, order, ...fields });
const resultOf = async (orderId: string, order: object, fields?: object) =>
  (await report(orderId, order, fields)).body.result;

const statusOf = async (id: string) => (await fixture.readOperation(id)).status;
const readCirculatingSupply = async () => (await fixture.readSupply(coin.id)).circulating;

beforeAll(async () => {
  harness = await openOnboarding();
  const platform = await harness.createPlatform('default', 'production');
  fixture = mintFixture(harness.app, { platform });
  issuer = await startAdapter(harness.app);
  setReply('/capabilities', { protocol: '1', services: ['stablecoins'] });
  setReply('/stablecoins/accounts', { accounts: ['acct-1'] });
  setReply('/stablecoins/token', TOKEN);
  setReply('/stablecoins/link', { result: 'linked', reference: 'addr-1' });
  setReply('/stablecoins/prepare', { result: 'accepted', fundingInstructions: WIRE });
  setReply('/stablecoins/submit', pendingState('funding'));
  setReply('/stablecoins/state', pendingState('funding'));
  expect((await fixture.linkAccount()).body.code).toBe('NOT_IMPLEMENTED');
  await addProvider(write, issuer, 'issuer');
  await write('POST', '/providers/issuer/check');
  await createRoute('issuer', 10);
  coin = await fixture.createCoin();
  wallet = await fixture.createWallet('platform');
});
afterAll(async () => {
  expect(await fixture.findSupplyProblems()).toEqual([]);
  await issuer.close();
  await harness.close();
});

describe('a mint', () => {
  it('is ordered once and advances by messages', async () => {
    const { id, fundingInstructions } = await orderMint();
    expect(fundingInstructions).toEqual(WIRE);
    await harness.app.settle();
    expect(await statusOf(id)).toBe('PENDING_FUNDING');
    expect(receivedBodies.get('/stablecoins/submit')).toMatchObject([
      {
        ...{ orderId: id, type: 'MINT', amount: '10000000', source: 'WIRE', rail: 'SPARK' },
        account: { providerAccountId: 'acct-1', credentials: { clientId: expect.any(String) } },
        to: { accountId: wallet.id, rail: 'SPARK', reference: 'addr-1' },
      },
    ]);
    const supplyBefore = (await readCirculatingSupply()) ?? 0n;
    const processingFields = { occurredAt: '2026-11-27T09:30:00Z', id: 'processing-1' };
    expect(await resultOf(id, pendingState('processing'), processingFields)).toBe('APPLIED');
    expect(await statusOf(id)).toBe('PROCESSING');
    // Repeated, late and reordered messages have no effect.
    expect(await resultOf(id, pendingState('processing'), processingFields)).toBe('DUPLICATE');
    expect(await resultOf(id, pendingState('funding'))).toBe('IGNORED');
    expect(await resultOf(id, orderState('expired'))).toBe('IGNORED');
    expect(await statusOf(id)).toBe('PROCESSING');
    expect(await readCirculatingSupply()).toBe(supplyBefore);
    expect(await resultOf(id, orderState('completed', { amount: '10000000' }))).toBe('APPLIED');
    expect(await resultOf(id, orderState('completed'))).toBe('IGNORED');
    expect(await resultOf(id, pendingState('processing'))).toBe('IGNORED');
    expect(await readCirculatingSupply()).toBe(supplyBefore + 10n * DOLLAR);
    expect(await fixture.readOperation(id)).toMatchObject({
      ...{ status: 'COMPLETED', providerStatus: 'acme completed' },
    });
  });

  it('keeps its result if the provider contradicts it', async () => {
    const { id } = await orderMint();
    await harness.app.settle();
    expect(await resultOf(id, orderState('completed'))).toBe('APPLIED');
    const supplyBefore = await readCirculatingSupply();
    expect(await report(id, orderState('failed', { reason: 'PROVIDER_CANCELLED' }))).toMatchObject({
      status: 409,
      body: { message: 'The reported state is failed, but the order is COMPLETED.' },
    });
    expect([await statusOf(id), await readCirculatingSupply()]).toEqual([
      'COMPLETED',
      supplyBefore,
    ]);
    const listedMessages = await write('GET', '/provider-messages?result=CONTRADICTORY');
    expect(listedMessages.data[0]).toMatchObject({
      type: 'stablecoin.order',
      providerId: 'issuer',
    });
  });

  it('of another amount is not applied, from a message or a request', async () => {
    const { id } = await orderMint();
    await harness.app.settle();
    const supplyBefore = await readCirculatingSupply();
    const otherState = orderState('completed', { amount: '9000000' });
    expect((await report(id, otherState)).status).toBe(409);
    setReply('/stablecoins/state', otherState);
    await harness.app.advance(61 * MINUTE);
    expect(await fixture.readOperation(id)).toMatchObject({
      ...{ status: 'PENDING_FUNDING' },
      providerStatus: 'acme completed: amount 9000000 instead of 10000000',
    });
    expect(await readCirculatingSupply()).toBe(supplyBefore);
    setReply('/stablecoins/state', orderState('completed', { amount: '10000000' }));
    await harness.app.advance(2 * MINUTE);
    expect([await statusOf(id), await readCirculatingSupply()]).toEqual([
      'COMPLETED',
      (supplyBefore ?? 0n) + 10n * DOLLAR,
    ]);
  });

  it('remains pending and is requested again while its state is unknown', async () => {
    setReply('/stablecoins/submit', null);
    const { id } = await orderMint();
    await harness.app.settle();
    expect(await statusOf(id)).toBe('CREATED');
    setReply('/stablecoins/submit', orderState('unknown'));
    setReply('/stablecoins/state', { message: 'unknown' }, 404);
    await harness.app.advance(10 * MINUTE);
    const orders = receivedBodies
      .get('/stablecoins/submit')
      ?.filter(({ orderId }) => orderId === id);
    expect(new Set(orders?.map((order) => JSON.stringify(order))).size).toBe(1);
    await harness.app.advance(10 * MINUTE);
    expect(await fixture.readOperation(id)).toMatchObject({
      ...{ status: 'CREATED', providerStatus: 'not found' },
    });
    setReply('/stablecoins/state', orderState('failed', { reason: 'PROVIDER_TRANSFER_FAILED' }));
    const supplyBefore = await readCirculatingSupply();
    await harness.app.advance(2 * MINUTE);
    expect(await fixture.readOperation(id)).toMatchObject({
      ...{ status: 'FAILED', failureReason: 'PROVIDER_TRANSFER_FAILED' },
    });
    expect(await readCirculatingSupply()).toBe(supplyBefore);
    expect((await report(id, orderState('completed'))).status).toBe(409);
    setReply('/stablecoins/submit', pendingState('funding'));
    setReply('/stablecoins/state', pendingState('funding'));
  });

  it('can be completed before the reply to its submission', async () => {
    setReply('/stablecoins/submit', null);
    const { id } = await orderMint();
    await harness.app.settle();
    expect(await resultOf(id, pendingState('processing'))).toBe('IGNORED');
    expect(await resultOf(id, orderState('completed'))).toBe('APPLIED');
    setReply('/stablecoins/submit', pendingState('funding'));
    await harness.app.advance(60 * MINUTE);
    expect(await statusOf(id)).toBe('COMPLETED');
  });
});

describe('a provider', () => {
  it('keeps its accounts when it is paused and the route changes', async () => {
    const { id } = await orderMint();
    await harness.app.settle();
    const otherAdapter = await startAdapter(harness.app);
    otherAdapter.replies['/capabilities'] = issuer.replies['/capabilities'] as never;
    otherAdapter.replies['/stablecoins/accounts'] = () => ({ body: { accounts: ['acct-1'] } });
    await addProvider(write, otherAdapter, 'other');
    await write('POST', '/providers/other/check');
    await createRoute('other', 1);
    await write('POST', '/providers/issuer/pause');
    // The orders of the paused provider continue. The provider receives no new orders.
    expect((await fixture.mint(coin.id, fixture.mintBody(wallet.id))).body.code).toBe(
      'SERVICE_UNAVAILABLE',
    );
    const message = { type: 'stablecoin.order', orderId: id, order: orderState('completed') };
    expect((await otherAdapter.send('other', message)).body.message).toBe(
      'This order was not submitted to this provider.',
    );
    setReply('/stablecoins/state', orderState('completed'));
    await harness.app.advance(61 * MINUTE);
    expect(await statusOf(id)).toBe('COMPLETED');
    // The same account ID at another provider is another account.
    const linkedAccount = ok(await fixture.linkAccount(), 201);
    expect(linkedAccount.id).not.toBe(
      (await fixture.readOperation(id)).stablecoinProviderAccountId,
    );
    expect(otherAdapter.calls).toContain('/stablecoins/accounts');
    await write('POST', '/providers/issuer/resume');
    await otherAdapter.close();
  });

  it('can revoke the access of an account, which can be linked again', async () => {
    setReply('/stablecoins/prepare', { result: 'unlinked', reason: 'revoked' });
    const order = () => fixture.mint(coin.id, fixture.mintBody(wallet.id));
    expect((await order()).body.code).toBe('STABLECOIN_PROVIDER_ACCOUNT_REVOKED');
    const callCount = receivedBodies.get('/stablecoins/accounts')?.length ?? 0;
    ok(await fixture.linkAccount({ providerAccountId: 'acct-1' }), 201);
    expect(receivedBodies.get('/stablecoins/accounts')).toHaveLength(callCount + 1);
    setReply('/stablecoins/prepare', { result: 'no_source' });
    expect((await order()).body.code).toBe('STABLECOIN_PROVIDER_SOURCE_NOT_LINKED');
    setReply('/stablecoins/prepare', { result: 'rejected', reason: 'The limit is exceeded.' });
    expect((await order()).body).toMatchObject({
      ...{ code: 'STABLECOIN_PROVIDER_ERROR', message: 'The limit is exceeded.' },
    });
  });
});
