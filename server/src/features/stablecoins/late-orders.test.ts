// A mint or burn that expired at its provider and is paid afterwards. The amount is posted as far as the
// floors allow.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import {
  AFTER_BURN,
  BEFORE_BURN,
  DOLLAR,
  mintFixture,
  PENDING,
} from '../../../test/kit/payments/mints.ts';
import {
  FINAL_EXPIRY,
  failedOrder,
  type ProviderReply,
  progressReply,
  workerWithReplies as workerOn,
} from '../../../test/kit/payments/scripted-issuer.ts';
import { mintsAndBurns } from './store.ts';

const HOUR = 3_600_000;

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

const createWorker = (...responses: readonly (ProviderReply | Error)[]) =>
  workerOn(app, ...responses);

const orderBurn = () => fixture.orderBurn(bank.id);

describe('an EXPIRED mint or burn', () => {
  const expiredProgress = progressReply('expired');

  /** A burn that its provider has expired, with later responses. */
  async function createExpiredBurn(...responses: readonly (ProviderReply | Error)[]) {
    const burn = await orderBurn();
    const worker = createWorker(expiredProgress, ...responses);
    await worker.runFor(0);
    expect((await fixture.readOperation(burn.id)).status).toBe('EXPIRED');
    expect(await fixture.readSupply(burn.coin.id)).toEqual(BEFORE_BURN);
    return { ...burn, ...worker };
  }

  const ledgerOf = async (id: string) => {
    const text = `select step, phase, amount from ledger_transfers where transaction_id = $1
      order by created_at, phase <> 'pending', step`;
    const rows = await app.runtime.db.query(text, [id]);
    return rows.map(({ step, phase, amount }) => `${step} ${phase} ${amount}`);
  };

  it('is polled every hour, and completed if it was paid late', async () => {
    const { coin, id, runFor, calls } = await createExpiredBurn(
      expiredProgress,
      expiredProgress,
      progressReply('completed'),
    );
    await runFor(2 * HOUR);
    expect(calls).toHaveLength(3);
    expect((await fixture.readOperation(id)).status).toBe('EXPIRED');
    await runFor(HOUR);
    expect(await fixture.readOperation(id)).toMatchObject({
      status: 'COMPLETED',
      providerStatus: 'completed',
    });
    expect(await ledgerOf(id)).toEqual([
      'burn pending 10000000',
      'burn! void 10000000',
      'burn.late posted 10000000',
    ]);
    expect(await fixture.readSupply(coin.id)).toEqual(AFTER_BURN);
    expect(await fixture.findSupplyProblems()).toEqual([]);
    await runFor(24 * HOUR);
    expect(calls).toHaveLength(4);
  });

  it.each([
    [
      'completed',
      [progressReply('completed')],
      'COMPLETED',
      'burn.late! post 10000000',
      AFTER_BURN,
    ],
    ['failed', [failedOrder], 'FAILED', 'burn.late! void 10000000', BEFORE_BURN],
  ] as const)(
    'is held again when it continues: %s',
    async (_, lastResponse, status, step, supply) => {
      const { coin, id, runFor } = await createExpiredBurn(
        progressReply('submitted'),
        ...lastResponse,
      );
      await runFor(HOUR);
      expect((await fixture.readOperation(id)).status).toBe('PROCESSING');
      expect(await fixture.readSupply(coin.id)).toEqual(PENDING);
      expect(await fixture.findSupplyProblems()).toEqual([]);
      await runFor(HOUR);
      expect((await fixture.readOperation(id)).status).toBe(status);
      expect((await ledgerOf(id)).at(-1)).toBe(step);
      expect(await fixture.readSupply(coin.id)).toEqual(supply);
    },
  );

  it.each([
    ['completed immediately', [progressReply('completed')]],
    ['held first', [progressReply('processing'), progressReply('completed')]],
  ] as const)('posts at most the circulating supply: %s', async (_, responses) => {
    const { coin, id, runFor } = await createExpiredBurn(...responses);
    const body = fixture.burnBody(bank.id, { amount: String(16n * DOLLAR) });
    const otherBurn = ok(await fixture.burn(coin.id, body), 201);
    await runFor(2 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    const row = await app.runtime.db.read(mintsAndBurns, id);
    expect(row?.uncounted).toBe(6n * DOLLAR);
    expect((await ledgerOf(id)).at(-1)).toMatch(/^burn.late!? post(ed)? 4000000$/);
    expect(await fixture.findSupplyProblems()).toEqual([]);
    await createWorker(progressReply('completed')).runFor(HOUR);
    expect((await fixture.readOperation(otherBurn.id)).status).toBe('COMPLETED');
    expect((await fixture.readSupply(coin.id)).circulating).toBe(0n);
  });

  it('posts no amount if no supply remains', async () => {
    const { coin, id, runFor } = await createExpiredBurn(
      progressReply('processing'),
      progressReply('completed'),
    );
    const body = fixture.burnBody(bank.id, { amount: String(20n * DOLLAR) });
    ok(await fixture.burn(coin.id, body), 201);
    await runFor(2 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await ledgerOf(id)).toHaveLength(2);
    expect(await fixture.findSupplyProblems()).toEqual([]);
    await createWorker(FINAL_EXPIRY).runFor(HOUR);
  });

  it('is completed if it is a mint that was paid late', async () => {
    const coin = await fixture.createCoin();
    const { id } = ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id)), 201);
    await createWorker(expiredProgress, progressReply('completed')).runFor(2 * HOUR);
    expect((await fixture.readOperation(id)).status).toBe('COMPLETED');
    expect(await fixture.readSupply(coin.id)).toEqual({
      circulating: 100n * DOLLAR,
      burning: 0n,
      minting: 0n,
    });
  });

  it('is polled for a week, and the end of the polls is recorded', async () => {
    const { id, runFor, calls } = await createExpiredBurn(expiredProgress);
    await runFor(30 * 24 * HOUR);
    expect(calls).toHaveLength(1 + 7 * 24);
    expect((await fixture.readOperation(id)).status).toBe('EXPIRED');
    const actionsSql = 'select actor, action, reason from account_actions where account_id = $1';
    expect(await app.runtime.db.query(actionsSql, [id])).toEqual([
      {
        actor: 'service',
        action: 'expire',
        reason: expect.stringContaining('no longer polled'),
      },
    ]);
  });

  it.each([
    ['expired permanently', { state: 'expired', providerStatus: 'expired', final: true }],
    ['failed', failedOrder],
  ] as const)('is no longer polled once it is %s', async (_, response) => {
    const { id, runFor, calls } = await createExpiredBurn(response);
    await runFor(30 * 24 * HOUR);
    expect(calls).toHaveLength(2);
    expect((await fixture.readOperation(id)).status).toBe('EXPIRED');
  });
});
