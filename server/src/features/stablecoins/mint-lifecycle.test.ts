// Mints and burns from order to final status with the sandbox provider: status and supply at each step.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { DOLLAR, mintFixture } from '../../../test/kit/payments/mints.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let wallet: { id: string };
let bank: { id: string };

beforeAll(async () => {
  fixture = mintFixture(app);
  wallet = await fixture.createWallet();
  bank = await fixture.createBankAccount();
});
afterAll(async () => {
  expect(await fixture.findSupplyProblems()).toEqual([]);
});

/** Statuses of an operation at these times after now. */
async function readStatusesAt(id: string, times: readonly number[]): Promise<string[]> {
  const startTime = app.effects.now();
  const statuses: string[] = [];
  for (const time of times) {
    await app.advance(startTime + time - app.effects.now());
    statuses.push((await fixture.readOperation(id)).status);
  }
  return statuses;
}

const TIMES = [0, 1_999, 2_000, 4_999, 5_000, 60_000];

describe('createStablecoinMint', () => {
  it('is accepted under the same key once the token is provisioned', async () => {
    const { id } = await fixture.createCoin({ token: '005' });
    const body = fixture.mintBody(wallet.id);
    const mint = () => fixture.mint(id, body, 'patient');
    expect((await mint()).body.code).toBe('STABLECOIN_NOT_PROVISIONED');
    await app.advance(60_000);
    expect((await mint()).status).toBe(201);
  });

  it('awaits the payment by wire, then increases the supply', async () => {
    const coin = await fixture.createCoin();
    const body = fixture.mintBody(wallet.id, { description: 'Reserve for May' });
    const createdMint = ok(await fixture.mint(coin.id, body), 201);
    expect(createdMint).toEqual({
      id: expect.stringMatching(/^StablecoinOperation:[0-9a-f-]{36}$/),
      stablecoinId: coin.id,
      operationType: 'MINT',
      status: 'CREATED',
      amount: '100000000',
      provider: 'BRALE',
      providerEnvironment: 'SANDBOX',
      stablecoinProviderAccountId: coin.stablecoinProviderAccountId,
      source: { type: 'WIRE' },
      fundingInstructions: expect.objectContaining({
        rail: 'WIRE',
        address: expect.stringMatching(/^\d+$/),
        valueType: 'USD',
      }),
      destination: { accountId: wallet.id },
      estimatedDelivery: { rail: 'SPARK', amount: '10000', currency: 'USD', timing: 'MINUTES' },
      expiresAt: new Date(app.effects.now() + 7 * DAY).toISOString(),
      description: 'Reserve for May',
      createdAt: new Date(app.effects.now()).toISOString(),
      updatedAt: new Date(app.effects.now()).toISOString(),
    });
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 0n,
      burning: 0n,
      minting: 100n * DOLLAR,
    });
    const pendingFunding = 'PENDING_FUNDING';
    const [completed, processing] = ['COMPLETED', 'PROCESSING'];
    expect(await readStatusesAt(createdMint.id, TIMES)).toEqual([
      pendingFunding,
      pendingFunding,
      processing,
      processing,
      completed,
      completed,
    ]);
    const finalOperation = await fixture.readOperation(createdMint.id);
    expect(finalOperation).toMatchObject({ status: completed, providerStatus: 'complete' });
    expect(finalOperation.failureReason).toBeUndefined();
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 100n * DOLLAR,
      burning: 0n,
      minting: 0n,
    });
  });

  it.each(['ACH_DEBIT', 'SAME_DAY_ACH_DEBIT'])(
    'requires no payment if funded by %s',
    async (type) => {
      const coin = await fixture.createCoin();
      const fundingSource = { type, externalAccountId: bank.id };
      const createdMint = ok(
        await fixture.mint(coin.id, fixture.mintBody(wallet.id, { fundingSource })),
        201,
      );
      expect(createdMint.source).toEqual(fundingSource);
      expect(createdMint.fundingInstructions).toBeUndefined();
      expect(createdMint.expiresAt).toBeUndefined();
      const [pending, processing, completed] = ['PENDING_PROVIDER', 'PROCESSING', 'COMPLETED'];
      expect(await readStatusesAt(createdMint.id, TIMES)).toEqual([
        pending,
        pending,
        processing,
        processing,
        completed,
        completed,
      ]);
      expect((await fixture.readSupply(coin.id)).circulating).toBe(100n * DOLLAR);
    },
  );

  it.each([
    ['003', 'PROVIDER_TRANSFER_FAILED', 5 * SECOND],
    ['004', 'PROVIDER_CANCELLED', 5 * SECOND],
  ])('fails if the description has the suffix %s: %s', async (suffix, failureReason, afterMs) => {
    const coin = await fixture.createCoin();
    const body = fixture.mintBody(wallet.id, { description: `mint ${suffix}` });
    const createdMint = ok(await fixture.mint(coin.id, body), 201);
    await app.advance(afterMs);
    expect(await fixture.readOperation(createdMint.id)).toMatchObject({
      status: 'FAILED',
      failureReason,
    });
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 0n,
      burning: 0n,
      minting: 0n,
    });
  });

  it('fails if the number of the bank account has the suffix 003', async () => {
    const coin = await fixture.createCoin();
    const { id: externalAccountId } = await fixture.createBankAccount('003');
    const fundingSource = { type: 'ACH_DEBIT', externalAccountId };
    const createdMint = ok(
      await fixture.mint(coin.id, fixture.mintBody(wallet.id, { fundingSource })),
      201,
    );
    await app.advance(5 * SECOND);
    const failureReason = 'PROVIDER_TRANSFER_FAILED';
    expect(await fixture.readOperation(createdMint.id)).toMatchObject({
      status: 'FAILED',
      failureReason,
    });
  });

  it('completes after thirty seconds if the description has the suffix 005', async () => {
    const coin = await fixture.createCoin();
    const body = fixture.mintBody(wallet.id, { description: 'slow 005' });
    const createdMint = ok(await fixture.mint(coin.id, body), 201);
    const times = [9_999, 10_000, 29_999, 30_000];
    const processing = 'PROCESSING';
    expect(await readStatusesAt(createdMint.id, times)).toEqual([
      'PENDING_FUNDING',
      processing,
      processing,
      'COMPLETED',
    ]);
  });

  it('expires after exactly seven days without a payment', async () => {
    const coin = await fixture.createCoin();
    const body = fixture.mintBody(wallet.id, { description: 'never 001' });
    const createdMint = ok(await fixture.mint(coin.id, body), 201);
    const pendingFunding = 'PENDING_FUNDING';
    const states = await readStatusesAt(createdMint.id, [
      0,
      6 * DAY,
      7 * DAY - 1,
      7 * DAY,
      8 * DAY,
    ]);
    expect(states).toEqual([pendingFunding, pendingFunding, pendingFunding, 'EXPIRED', 'EXPIRED']);
    expect(await fixture.readOperation(createdMint.id)).toMatchObject({
      providerStatus: 'expired',
    });
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 0n,
      burning: 0n,
      minting: 0n,
    });
  });
});

describe('createStablecoinBurn', () => {
  it('holds tokens immediately and posts them when it completes', async () => {
    const coin = await fixture.createCirculatingCoin(100);
    const createdBurn = ok(await fixture.burn(coin.id, fixture.burnBody(bank.id)), 201);
    expect(createdBurn).toMatchObject({
      operationType: 'BURN',
      status: 'CREATED',
      source: { type: 'EXTERNAL_ACCOUNT' },
      destination: { accountId: bank.id, rail: 'WIRE' },
      fundingInstructions: { network: 'SPARK', address: expect.stringMatching(/^spark/) },
      estimatedDelivery: { rail: 'WIRE', amount: '1000', currency: 'USD' },
    });
    const fullSupply = 100n * DOLLAR;
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: fullSupply,
      burning: 10n * DOLLAR,
      minting: 0n,
    });
    const [pendingFunding, processing, completed] = ['PENDING_FUNDING', 'PROCESSING', 'COMPLETED'];
    expect(await readStatusesAt(createdBurn.id, TIMES)).toEqual([
      pendingFunding,
      pendingFunding,
      processing,
      processing,
      completed,
      completed,
    ]);
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 90n * DOLLAR,
      burning: 0n,
      minting: 0n,
    });
  });

  it.each([
    ['003', 'FAILED', 5 * SECOND],
    ['001', 'EXPIRED', 7 * DAY],
  ])(
    'with the suffix %s in its description becomes %s and voids the hold',
    async (suffix, status, afterMs) => {
      const coin = await fixture.createCirculatingCoin(20);
      const body = fixture.burnBody(bank.id, { description: `burn ${suffix}` });
      const createdBurn = ok(await fixture.burn(coin.id, body), 201);
      await app.advance(afterMs - 1);
      expect((await fixture.readSupply(coin.id)).burning).toBe(10n * DOLLAR);
      await app.advance(1);
      expect((await fixture.readOperation(createdBurn.id)).status).toBe(status);
      const supplyWithoutBurns = { circulating: 20n * DOLLAR, burning: 0n, minting: 0n };
      expect(await fixture.readSupply(coin.id)).toEqual(supplyWithoutBurns);
    },
  );

  it.each(['ACH_CREDIT', 'SAME_DAY_ACH_CREDIT', 'RTP_CREDIT'])(
    'pays out a balance at the provider by %s without a token transfer',
    async (rail) => {
      const coin = await fixture.createCirculatingCoin(20);
      const createdBurn = ok(
        await fixture.burn(
          coin.id,
          fixture.burnBody(bank.id, {
            source: { type: 'PROVIDER_INTERNAL_BALANCE' },
            destination: { type: 'EXTERNAL_ACCOUNT', externalAccountId: bank.id, rail },
          }),
        ),
        201,
      );
      expect(createdBurn.fundingInstructions).toBeUndefined();
      expect(createdBurn.destination).toEqual({ accountId: bank.id, rail });
      const [pending, processing, completed] = ['PENDING_PROVIDER', 'PROCESSING', 'COMPLETED'];
      expect(await readStatusesAt(createdBurn.id, TIMES)).toEqual([
        pending,
        pending,
        processing,
        processing,
        completed,
        completed,
      ]);
      expect((await fixture.readSupply(coin.id)).circulating).toBe(10n * DOLLAR);
    },
  );

  it('never exceeds the circulating supply under concurrency', async () => {
    const coin = await fixture.createCirculatingCoin(100);
    const body = fixture.burnBody(bank.id, { amount: String(9n * DOLLAR) });
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => fixture.burn(coin.id, body)),
    );
    const codes = responses.map((each) => (each.status === 201 ? 'created' : each.body.code));
    expect(codes.filter((code) => code === 'created')).toHaveLength(11);
    expect(codes.filter((code) => code === 'STABLECOIN_PROVIDER_ERROR')).toHaveLength(9);
    await app.advance(5 * SECOND);
    const remainingSupply = { circulating: DOLLAR, burning: 0n, minting: 0n };
    expect(await fixture.readSupply(coin.id)).toEqual(remainingSupply);
  });
});

describe('listStablecoinOperations', () => {
  it('shows the newest first, by pages and by type', async () => {
    const coin = await fixture.createCirculatingCoin(100);
    const operationIds: string[] = [];
    for (const amount of ['10000', '20000', '30000']) {
      await app.advance(SECOND);
      operationIds.unshift(
        ok(await fixture.burn(coin.id, fixture.burnBody(bank.id, { amount })), 201).id,
      );
    }
    const listOperations = async (query: string) =>
      ok(await fixture.read(`/stablecoins/${coin.id}/operations${query}`), 200);
    const allOperations = await listOperations('');
    expect(allOperations.data.map((each: { id: string }) => each.id).slice(0, 3)).toEqual(
      operationIds,
    );
    expect([
      allOperations.totalCount,
      allOperations.hasMore,
      allOperations.data[3].operationType,
    ]).toEqual([4, false, 'MINT']);
    const firstPage = await listOperations('?operationType=BURN&limit=2');
    const secondPage = await listOperations(
      `?operationType=BURN&limit=2&cursor=${firstPage.nextCursor}`,
    );
    const pagedIds = [...firstPage.data, ...secondPage.data].map((each: { id: string }) => each.id);
    expect([pagedIds, firstPage.totalCount, secondPage.hasMore]).toEqual([operationIds, 3, false]);
    expect((await listOperations('?operationType=MINT')).data).toHaveLength(1);
    expect((await fixture.read(`/stablecoins/${coin.id}/operations?operationType=X`)).status).toBe(
      400,
    );
  });

  it('returns an empty page for a coin without operations, and omits those of other coins', async () => {
    const coin = await fixture.createCoin();
    const page = ok(await fixture.read(`/stablecoins/${coin.id}/operations`), 200);
    expect(page).toEqual({ data: [], hasMore: false, totalCount: 0 });
  });
});

describe('getStablecoinOperation', () => {
  it('returns 404 for unknown operations and operations of another platform', async () => {
    const coin = await fixture.createCoin();
    const createdMint = ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id)), 201);
    for (const [id, platform] of [
      [createdMint.id, app.other],
      ['StablecoinOperation:x', app.platform],
      [coin.id, app.platform],
    ] as const) {
      const response = await app.call('GET', `/stablecoin-operations/${id}`, undefined, {
        platform,
      });
      expect([response.status, response.body.code]).toEqual([
        404,
        'STABLECOIN_OPERATION_NOT_FOUND',
      ]);
    }
    const viewToken = await app.tokenWith(['VIEW']);
    const path = `/stablecoin-operations/${createdMint.id}`;
    ok(await app.call('GET', path, undefined, { platform: viewToken }), 200);
  });
});
