// A mint or burn that expired at its provider and changes afterwards: it may have been paid after
// all, and then the books go after it as far as they can.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import {
  BURNT,
  DOLLAR,
  mintFixture,
  UNDER_WAY,
  UNTOUCHED,
} from '../../../test/kit/payments/mints.ts';
import {
  FINAL,
  failed,
  type Said,
  says,
  workerSaying as speaking,
} from '../../../test/kit/payments/scripted-issuer.ts';
import { mintsAndBurns } from './store.ts';

const HOUR = 3_600_000;

const app = testApp();
let fixture: ReturnType<typeof mintFixture>;
let wallet: { id: string };
let bank: { id: string };

beforeAll(async () => {
  fixture = mintFixture(app);
  wallet = await fixture.wallet();
  bank = await fixture.bank();
});
afterAll(async () => {
  expect(await fixture.problems()).toEqual([]);
});

const workerSaying = (...answers: readonly (Said | Error)[]) => speaking(app, ...answers);

const burnOrdered = () => fixture.burnOrdered(bank.id);

describe('one that is EXPIRED', () => {
  const expired = says('expired');

  /** A burn that its provider called expired, and says more about afterwards. */
  async function expiredBurn(...answers: readonly (Said | Error)[]) {
    const ordered = await burnOrdered();
    const worker = workerSaying(expired, ...answers);
    await worker.after(0);
    expect((await fixture.look(ordered.id)).status).toBe('EXPIRED');
    expect(await fixture.supply(ordered.coin.id)).toEqual(UNTOUCHED);
    return { ...ordered, ...worker };
  }

  const ledgerOf = async (id: string) => {
    const text = `select step, phase, amount from ledger_transfers where transaction_id = $1
      order by created_at, phase <> 'pending', step`;
    const rows = await app.runtime.db.query(text, [id]);
    return rows.map(({ step, phase, amount }) => `${step} ${phase} ${amount}`);
  };

  it('is polled every hour, and completed if it was paid late', async () => {
    const { coin, id, after, asked } = await expiredBurn(expired, expired, says('completed'));
    await after(2 * HOUR);
    expect(asked).toHaveLength(3);
    expect((await fixture.look(id)).status).toBe('EXPIRED');
    await after(HOUR);
    expect(await fixture.look(id)).toMatchObject({
      status: 'COMPLETED',
      providerStatus: 'completed',
    });
    expect(await ledgerOf(id)).toEqual([
      'burn pending 10000000',
      'burn! void 10000000',
      'burn.late posted 10000000',
    ]);
    expect(await fixture.supply(coin.id)).toEqual(BURNT);
    expect(await fixture.problems()).toEqual([]);
    await after(24 * HOUR);
    expect(asked).toHaveLength(4);
  });

  it.each([
    ['completed', [says('completed')], 'COMPLETED', 'burn.late! post 10000000', BURNT],
    ['failed', [failed], 'FAILED', 'burn.late! void 10000000', UNTOUCHED],
  ] as const)('is set aside again when it goes on: %s', async (_, last, status, step, supply) => {
    const { coin, id, after } = await expiredBurn(says('submitted'), ...last);
    await after(HOUR);
    expect((await fixture.look(id)).status).toBe('PROCESSING');
    expect(await fixture.supply(coin.id)).toEqual(UNDER_WAY);
    expect(await fixture.problems()).toEqual([]);
    await after(HOUR);
    expect((await fixture.look(id)).status).toBe(status);
    expect((await ledgerOf(id)).at(-1)).toBe(step);
    expect(await fixture.supply(coin.id)).toEqual(supply);
  });

  it.each([
    ['completed at once', [says('completed')]],
    ['set aside first', [says('processing'), says('completed')]],
  ] as const)('takes what circulates where that is less by now: %s', async (_, answers) => {
    const { coin, id, after } = await expiredBurn(...answers);
    const body = fixture.burnBody(bank.id, { amount: String(16n * DOLLAR) });
    const other = ok(await fixture.burn(coin.id, body), 201);
    await after(2 * HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    const row = await app.runtime.db.read(mintsAndBurns, id);
    expect(row?.uncounted).toBe(6n * DOLLAR);
    expect((await ledgerOf(id)).at(-1)).toMatch(/^burn.late!? post(ed)? 4000000$/);
    expect(await fixture.problems()).toEqual([]);
    await workerSaying(says('completed')).after(HOUR);
    expect((await fixture.look(other.id)).status).toBe('COMPLETED');
    expect((await fixture.supply(coin.id)).circulating).toBe(0n);
  });

  it('moves nothing where nothing is left', async () => {
    const { coin, id, after } = await expiredBurn(says('processing'), says('completed'));
    const body = fixture.burnBody(bank.id, { amount: String(20n * DOLLAR) });
    ok(await fixture.burn(coin.id, body), 201);
    await after(2 * HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await ledgerOf(id)).toHaveLength(2);
    expect(await fixture.problems()).toEqual([]);
    await workerSaying(FINAL).after(HOUR);
  });

  it('was a mint, which is posted', async () => {
    const coin = await fixture.coin();
    const { id } = ok(await fixture.mint(coin.id, fixture.mintBody(wallet.id)), 201);
    await workerSaying(expired, says('completed')).after(2 * HOUR);
    expect((await fixture.look(id)).status).toBe('COMPLETED');
    expect(await fixture.supply(coin.id)).toEqual({
      circulating: 100n * DOLLAR,
      burning: 0n,
      minting: 0n,
    });
  });

  it('is asked about for a week, which is written down', async () => {
    const { id, after, asked } = await expiredBurn(expired);
    await after(30 * 24 * HOUR);
    expect(asked).toHaveLength(1 + 7 * 24);
    expect((await fixture.look(id)).status).toBe('EXPIRED');
    const said = 'select actor, action, reason from account_actions where account_id = $1';
    expect(await app.runtime.db.query(said, [id])).toEqual([
      {
        actor: 'service',
        action: 'expire',
        reason: expect.stringContaining('not polled any more'),
      },
    ]);
  });

  it.each([
    ['expired for good', { state: 'expired', providerStatus: 'expired', final: true }],
    ['failed', failed],
  ] as const)('is asked about no more once it is %s', async (_, answer) => {
    const { id, after, asked } = await expiredBurn(answer);
    await after(30 * 24 * HOUR);
    expect(asked).toHaveLength(2);
    expect((await fixture.look(id)).status).toBe('EXPIRED');
  });
});
