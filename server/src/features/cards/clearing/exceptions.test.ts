// Resolution of an exception by an operator: what the account pays, what the operator bears,
// releases, and that no amount is given more than they have paid. And what a network takes back
// while one stands.
import { beforeAll, describe, expect, it } from 'vitest';
import { fund } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type BegunPayment, cardPayments } from '../../../../test/kit/cards/card-payments.ts';
import type { Resolution } from './arithmetic.ts';
import { listCardExceptions, resolveException } from './exceptions.ts';
import { cardPaymentOf } from './payment.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});

const clearing = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const giving = (amount: number) => ({ kind: 'RETURN', amount: BigInt(amount) }) as const;
const REVERSAL = { kind: 'RETURN_REVERSAL' } as const;
const BROKEN = { descriptor: 'Shop 006' };

const resolve = ({ id }: Pick<BegunPayment, 'id'>, outcome: Resolution, reason?: string) =>
  app.operate(async (ctx) => {
    await resolveException(ctx, await cardPaymentOf(ctx, id), { outcome, reason });
  });

const waiting = async ({ id }: BegunPayment): Promise<number> =>
  (await app.runtime.db.query('select 1 from card_exceptions where id = $1', [id])).length;

/** An exception: 100 were debited, 120 cleared, and the further debit failed. */
async function short() {
  const paid = await fixture.begin({ funds: 110 });
  await paid.notify(clearing(120));
  expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', cards: -20 });
  expect(await waiting(paid)).toBe(1);
  return paid;
}

/** One whose pull has failed, and of which so much was cleared. */
async function stuck(cleared: number) {
  const paid = await fixture.begin(BROKEN);
  if (cleared) await paid.notify(clearing(cleared));
  expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', account: '900 of 1000' });
  return paid;
}

describe('listCardExceptions', () => {
  it('merges exceptions with suspense: each payment once, by its older date', async () => {
    const [first, second] = [await short(), await short()];
    await app.runtime.db.query(
      'insert into suspense_items (id, platform_id, since) values ($1, $2, $3)',
      [second.id, app.platform.id, new Date(0)],
    );
    const listed = async (limit: number) =>
      (await listCardExceptions(app.runtime, { limit })).map(({ transactionId, since }) => [
        transactionId,
        since,
      ]);
    const epoch = new Date(0).toISOString();
    expect(await listed(10)).toEqual([
      [second.id, epoch],
      [first.id, expect.any(String)],
    ]);
    expect(await listed(1)).toEqual([[second.id, epoch]]);
    await app.runtime.db.query('delete from suspense_items where id = $1', [second.id]);
    for (const each of [first, second]) await resolve(each, 'collect');
  });
});

describe('to collect', () => {
  it('takes what is stuck, and gives back what was not cleared', async () => {
    const paid = await stuck(70);
    const from = (await paid.events()).length;
    await resolve(paid, 'collect', 'Agreed');
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '930 of 930', settled: 70 });
    expect((await paid.events()).slice(from)).toEqual(['930 of 930', 'SETTLED']);
    expect(await waiting(paid)).toBe(0);
    const text = 'select kind, state, reason from rail_results where transaction_id = $1';
    expect(await app.runtime.db.query(text, [paid.id])).toEqual([
      { kind: 'card', state: 'settled', reason: 'Agreed' },
    ]);
  });

  it('takes the rest into debt, and the next money in pays it', async () => {
    const paid = await short();
    await resolve(paid, 'collect');
    const owing = { status: 'SETTLED', account: '0 of 0', settled: 120, receivable: -10 };
    expect(await paid.now()).toEqual(owing);
    expect(await paid.shown()).toMatchObject({ pullSummary: { count: 2, totalAmount: 120 } });
    await fund(app, paid.accountId, 15);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '5 of 5', settled: 120 });
  });

  it('voids debits that are not needed', async () => {
    const paid = await stuck(0);
    await resolve(paid, 'collect');
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
    expect(await paid.shown()).toMatchObject({ settledAmount: { amount: 0 } });
    // A network that clears it all the same is heard.
    await paid.notify(clearing(40));
    expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', account: '960 of 1000' });
    await resolve(paid, 'collect');
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '960 of 960', settled: 40 });
  });
});

describe('to write off', () => {
  it('is our loss, and what is stuck is free again', async () => {
    const paid = await stuck(70);
    await resolve(paid, 'write-off');
    const lost = { status: 'SETTLED', account: '1000 of 1000', settled: 70, losses: -70 };
    expect(await paid.now()).toEqual(lost);
    // What comes back is ours then.
    await paid.notify(giving(70));
    expect(await paid.now()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
  });

  it('bears what was beyond the account, and no more', async () => {
    const paid = await short();
    await resolve(paid, 'write-off');
    const lost = { status: 'SETTLED', account: '10 of 10', settled: 120, losses: -20 };
    expect(await paid.now()).toEqual(lost);
    expect((await paid.events()).at(-1)).toBe('SETTLED');
  });

  it('credits no refund of an amount that was never paid', async () => {
    const paid = await stuck(100);
    await paid.notify(giving(100));
    expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', account: '1000 of 1100' });
    await resolve(paid, 'write-off');
    expect(await paid.now()).toEqual({ status: 'REFUNDED', account: '1000 of 1000' });
    expect((await paid.events()).slice(-2)).toEqual(['SETTLED', 'REFUNDED']);
  });
});

describe('a decision', () => {
  it('pays first with what stayed ours of a return', async () => {
    const paid = await short();
    await paid.notify(giving(120));
    const back = { status: 'EXCEPTION', account: '110 of 110', cards: -20, losses: 20 };
    expect(await paid.now()).toEqual(back);
    await resolve(paid, 'collect');
    expect(await paid.now()).toEqual({ status: 'REFUNDED', account: '110 of 110' });
  });

  it('takes nothing for an adjustment that what came back already covers', async () => {
    const paid = await fixture.begin({ funds: 100 });
    await paid.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 102n });
    await paid.notify(clearing(101));
    await paid.notify(giving(101));
    const back = { status: 'EXCEPTION', cards: -1, losses: 1 };
    expect(await paid.now()).toEqual({ ...back, account: '100 of 100' });
    await paid.notify({ kind: 'AUTHORIZATION_ADVICE', amount: 103n });
    expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', account: '99 of 99' });
    await paid.notify({ kind: 'AUTHORIZATION_EXPIRY' });
    expect(await paid.now()).toEqual({ ...back, account: '100 of 100' });
    await resolve(paid, 'collect');
    expect(await paid.now()).toEqual({ status: 'REFUNDED', account: '100 of 100' });
  });

  it('still takes what came back and is reversed', async () => {
    const paid = await short();
    await paid.notify(giving(120));
    await paid.notify(REVERSAL);
    const open = { status: 'EXCEPTION', account: '10 of 10', cards: -20, settled: 120 };
    expect(await paid.now()).toEqual(open);
    await resolve(paid, 'collect');
    expect(await paid.now()).toMatchObject({ status: 'SETTLED', settled: 120, receivable: -10 });
  });

  it('is taken once, of two that are made at the same time', async () => {
    const paid = await stuck(100);
    const both = await Promise.allSettled([resolve(paid, 'collect'), resolve(paid, 'write-off')]);
    expect(both.filter((each) => each.status === 'rejected')).toHaveLength(1);
    const { status, cards } = (await paid.now()) as { status: string; cards?: number };
    expect({ status, cards }).toEqual({ status: 'SETTLED', cards: undefined });
    await expect(resolve(paid, 'collect')).rejects.toThrow('Nothing of it is to be decided');
  });

  it('waits for what is still being taken', async () => {
    const paid = await fixture.begin({ funds: 110, descriptor: 'Shop 005' });
    await paid.notify(clearing(120));
    expect((await paid.now()).status).toBe('EXCEPTION');
    await expect(resolve(paid, 'collect')).rejects.toThrow('is pending');
    await app.advance(30_000);
    expect(await paid.now()).toMatchObject({ status: 'EXCEPTION', cards: -20 });
    await resolve(paid, 'write-off');
    expect(await paid.now()).toMatchObject({ status: 'SETTLED', losses: -20 });
  });

  it('has no one to collect from where the account was closed', async () => {
    const paid = await fixture.begin({ funds: 100 });
    await paid.notify(clearing(100));
    await fixture.closeAccount(paid.accountId);
    await paid.notify(clearing(30));
    const late = { status: 'EXCEPTION', account: '0 of 0', cards: -30, settled: 130 };
    expect(await paid.now()).toEqual(late);
    await expect(resolve(paid, 'collect')).rejects.toThrow('The account is closed');
    await resolve(paid, 'write-off');
    expect(await paid.now()).toMatchObject({ status: 'SETTLED', settled: 130, losses: -30 });
  });
});

describe('a return', () => {
  it('of a part can be taken back, whatever stands otherwise', async () => {
    const paid = await fixture.begin({ funds: 110 });
    await expect(paid.notify(REVERSAL)).rejects.toThrow('no refund to reverse');
    await paid.notify(clearing(40));
    await paid.notify(giving(10));
    await paid.notify(giving(20));
    await paid.notify(REVERSAL);
    const part = { status: 'PARTIALLY_SETTLED', account: '20 of 20', cards: 60, settled: 30 };
    expect(await paid.now()).toEqual(part);
    expect(await paid.shown()).toMatchObject({ refundSummary: { count: 1, totalAmount: 10 } });
    expect((await paid.events()).slice(-2)).toEqual(['20 of 20', 'PARTIALLY_SETTLED']);
    // Settled.
    await paid.notify(clearing(60));
    await paid.notify(REVERSAL);
    expect(await paid.now()).toEqual({ status: 'SETTLED', account: '10 of 10', settled: 100 });
    expect((await paid.events()).slice(-2)).toEqual(['10 of 10', 'SETTLED']);
    // And where a person is waited for.
    await paid.notify(clearing(40));
    await paid.notify(giving(30));
    const stuck = { status: 'EXCEPTION', cards: -40 };
    expect(await paid.now()).toEqual({ ...stuck, account: '40 of 40', settled: 110 });
    await paid.notify(REVERSAL);
    expect(await paid.now()).toEqual({ ...stuck, account: '10 of 10', settled: 140 });
    expect((await paid.events()).at(-1)).toBe('EXCEPTION');
  });
});
