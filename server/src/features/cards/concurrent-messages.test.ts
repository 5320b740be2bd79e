// Words of a network that meet something else between what they read and their commit: another
// message under their id, an operator who decides about the same money, or a database that is away
// for a moment.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../test/kit/cards/card-network.ts';
import { cardPayments } from '../../../test/kit/cards/card-payments.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';
import { Fault } from '../../kernel/fault.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { returnSuspenseFunds, settleSuspenseShortfall } from '../payments/payouts/resolve.ts';
import { transactions } from '../payments/transactions/store.ts';
import { systemCaller } from '../tenancy/platform/index.ts';

const app = testApp();
let network: ReturnType<typeof cardNetwork>;
beforeAll(() => {
  network = cardNetwork(app);
});
let payments: ReturnType<typeof cardPayments>;
beforeAll(() => {
  payments = cardPayments(app);
});
afterAll(() => app.settle());

async function cardOf(funds = 100_00) {
  const fixture = cardFixture(app);
  const holder = await fixture.holder({ funds });
  const { id } = await fixture.card(holder);
  return { ...holder, cardId: id as string };
}

describe('two concurrent notices with one id', () => {
  it('about two payments are not treated as one', async () => {
    const tokens: string[] = [];
    for (const of of [await cardOf(), await cardOf()]) {
      const request = network.message(of.cardId, 30_00);
      await network.send(request);
      tokens.push(request.token);
    }
    const clearing = { kind: 'CLEARING', amount: 30_00n } as const;
    const [firstToken = '', secondToken = ''] = tokens;
    // The other notice is committed between the reads and the commit of this one.
    const { committer } = app.runtime;
    const commit: typeof committer.commit = async (set) => {
      await network.notify(secondToken, clearing, `crossing-${secondToken}`);
      return committer.commit(set);
    };
    const through = cardNetwork(app, { ...app.runtime, committer: { commit } });
    const emitted = through.notify(firstToken, clearing, `crossing-${secondToken}`);
    await expect(emitted).rejects.toMatchObject({ code: 'CONFLICT' });
    // A repetition of the same notice is not.
    await through.notify(secondToken, clearing, `crossing-${secondToken}`);
  });
});

/**
 * A process in which something else is done between the look at what a payment has in suspense and
 * the look at whether that is in the queue of an operator.
 */
function crossed(concurrentWork: () => Promise<unknown>): Runtime {
  const { db } = app.runtime;
  let done: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  let looks = 0;
  const query: typeof db.query = async (text, values) => {
    const rows = await db.query(text, values);
    const isLook = values?.includes('system:%:suspense:%');
    if (isLook && ++looks === 1) await concurrentWork().finally(done);
    return rows as never;
  };
  const read: typeof db.read = async (table, id) => {
    if (table.name === 'suspense_items') await over;
    return db.read(table, id);
  };
  return { ...app.runtime, db: { ...db, query, read } };
}

/** What a person says of money that waits. */
const decide = (
  work: typeof returnSuspenseFunds | typeof settleSuspenseShortfall,
  id: string,
  runtime: Runtime,
) =>
  operate(runtime, systemCaller(app.platform.id, 'sandbox'), async (ctx) => {
    const row = await ctx.read(transactions, id);
    if (row) await work(ctx, row, { reference: 'WIRE-1' });
  });

describe('funds in suspense of a payment in progress', () => {
  const refund = (amount: bigint) => ({ kind: 'RETURN', amount }) as const;
  const REVERSAL = { kind: 'RETURN_REVERSAL' } as const;

  /** A cleared payment of an account that was closed, with 60 that came back for it. */
  async function suspensePayment() {
    const paid = await payments.begin({ funds: 100 });
    await paid.notify({ kind: 'CLEARING', amount: 100n });
    await payments.closeAccount(paid.accountId);
    await paid.notify(refund(60n));
    const text = 'select 1 from suspense_items where id = $1';
    const waits = async () => (await app.runtime.db.query(text, [paid.id])).length === 1;
    const suspense = async () =>
      Number(((await paid.now()) as { suspense?: number }).suspense ?? 0);
    return { paid, now: async () => [await suspense(), await waits()] };
  }

  it('are returned together with what arrived meanwhile', async () => {
    const { paid, now } = await suspensePayment();
    expect(await now()).toEqual([60, true]);
    await decide(
      returnSuspenseFunds,
      paid.id,
      crossed(() => paid.notify(refund(40n))),
    );
    expect(await now()).toEqual([0, false]);
  });

  it('are a shortfall if they were returned before the reversal', async () => {
    const { paid, now } = await suspensePayment();
    const send = () => decide(returnSuspenseFunds, paid.id, app.runtime);
    await cardNetwork(app, crossed(send)).notify(paid.token, REVERSAL);
    expect(await now()).toEqual([-60, true]);
  });

  it('that were missing are settled at their current amount', async () => {
    const { paid, now } = await suspensePayment();
    await paid.notify(refund(40n));
    await decide(returnSuspenseFunds, paid.id, app.runtime);
    await paid.notify(REVERSAL);
    expect(await now()).toEqual([-40, true]);
    await decide(
      settleSuspenseShortfall,
      paid.id,
      crossed(() => paid.notify(REVERSAL)),
    );
    expect(await now()).toEqual([0, false]);
  });
});

describe('a clearing above the authorized amount', () => {
  it('debits nothing if the card is closed concurrently', async () => {
    const paid = await payments.begin();
    const { committer } = app.runtime;
    let crossings = 0;
    const commit: typeof committer.commit = async (set) => {
      if (++crossings === 1) await paid.close();
      return committer.commit(set);
    };
    const through = cardNetwork(app, { ...app.runtime, committer: { commit } });
    await through.notify(paid.token, { kind: 'CLEARING', amount: 120n });
    const lost = { status: 'SETTLED', account: '900 of 900', settled: 120, losses: -20 };
    expect(await paid.now()).toEqual(lost);
    expect(crossings).toBe(2);
  });
});

describe('a fault unrelated to the wallet', () => {
  it('is not a decline: the request can be repeated', async () => {
    const of = await cardOf();
    const unavailable = new Fault('SERVICE_UNAVAILABLE', 'The database is away.');
    let looks = 0;
    const { db } = app.runtime;
    const read: typeof db.read = async (table, id) => {
      // The second look at the account is that of what signs for it.
      if (table.name === 'internal_accounts' && ++looks === 2) throw unavailable;
      return db.read(table, id);
    };
    const through = cardNetwork(app, { ...app.runtime, db: { ...db, read } });
    const request = through.message(of.cardId, 30_00);
    await expect(through.send(request)).rejects.toBe(unavailable);
    expect(await network.logOf(of.cardId)).toEqual([]);
    expect(await network.send(request)).toMatchObject({ approved: true });
  });
});

describe('a fault unrelated to the account', () => {
  it.each(['CLEARING', 'AUTHORIZATION_ADVICE'] as const)(
    'writes nothing of the %s, which is then repeated',
    async (kind) => {
      const paid = await payments.begin();
      const before = await paid.now();
      const notice = { kind, amount: 120n };
      const unavailable = new Fault('SERVICE_UNAVAILABLE', 'The database is away.');
      const { db } = app.runtime;
      const read: typeof db.read = async (table, id) => {
        if (table.name === 'internal_accounts') throw unavailable;
        return db.read(table, id);
      };
      const through = cardNetwork(app, { ...app.runtime, db: { ...db, read } });
      await expect(through.notify(paid.token, notice, `to ${paid.id}`)).rejects.toBe(unavailable);
      expect(await paid.now()).toEqual(before);
      expect(await network.logOf(paid.card.id)).toHaveLength(1);
      await network.notify(paid.token, notice, `to ${paid.id}`);
      await app.settle();
      expect((await paid.now()).account).toBe('880 of 880');
      expect((await paid.shown()).pullSummary).toMatchObject({ count: 2, totalAmount: 120 });
    },
  );
});
