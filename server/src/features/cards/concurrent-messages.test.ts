// Messages of a card network with a concurrent change between their reads and their commit. The
// change is another message with the same ID, a decision of an operator about the same funds, or
// the closure of the card. An unavailable database leaves the payment unchanged.
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
  const holder = await fixture.createCardholder({ funds });
  const { id } = await fixture.createCard(holder);
  return { ...holder, cardId: id as string };
}

describe('two concurrent notices with one ID', () => {
  it('about two payments cause CONFLICT for the later commit', async () => {
    const tokens: string[] = [];
    for (const fundedCard of [await cardOf(), await cardOf()]) {
      const request = network.message(fundedCard.cardId, 30_00);
      await network.send(request);
      tokens.push(request.token);
    }
    const clearing = { kind: 'CLEARING', amount: 30_00n } as const;
    const [firstToken = '', secondToken = ''] = tokens;
    // The other notice is committed between the reads and the commit of the first one.
    const { committer } = app.runtime;
    const commit: typeof committer.commit = async (set) => {
      await network.notify(secondToken, clearing, `shared-${secondToken}`);
      return committer.commit(set);
    };
    const networkWithConcurrentNotice = cardNetwork(app, { ...app.runtime, committer: { commit } });
    const firstNotice = networkWithConcurrentNotice.notify(
      firstToken,
      clearing,
      `shared-${secondToken}`,
    );
    await expect(firstNotice).rejects.toMatchObject({ code: 'CONFLICT' });
    // A repetition of the same notice is accepted.
    await networkWithConcurrentNotice.notify(secondToken, clearing, `shared-${secondToken}`);
  });
});

/**
 * A process that runs `concurrentWork` after it has read the suspense balance of a payment and
 * before it reads the suspense item.
 */
function runtimeWithConcurrentWork(concurrentWork: () => Promise<unknown>): Runtime {
  const { db } = app.runtime;
  let finish: () => void = () => {};
  const completion = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let suspenseReadCount = 0;
  const query: typeof db.query = async (text, values) => {
    const rows = await db.query(text, values);
    const readsSuspense = values?.includes('system:%:suspense:%');
    if (readsSuspense && ++suspenseReadCount === 1) await concurrentWork().finally(finish);
    return rows as never;
  };
  const readAfterCompletion: typeof db.read = async (table, id) => {
    if (table.name === 'suspense_items') await completion;
    return db.read(table, id);
  };
  return { ...app.runtime, db: { ...db, query, read: readAfterCompletion } };
}

/** Applies an operator's decision about funds in suspense. */
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
  const refundNotice = (amount: bigint) => ({ kind: 'RETURN', amount }) as const;
  const REVERSAL = { kind: 'RETURN_REVERSAL' } as const;

  /** A cleared payment of a closed account, with a refund of 60 in suspense. */
  async function createSuspensePayment() {
    const payment = await payments.startPayment({ funds: 100 });
    await payment.notify({ kind: 'CLEARING', amount: 100n });
    await payments.closeAccount(payment.accountId);
    await payment.notify(refundNotice(60n));
    const text = 'select 1 from suspense_items where id = $1';
    const hasItem = async () => (await app.runtime.db.query(text, [payment.id])).length === 1;
    const readSuspenseAmount = async () =>
      Number(((await payment.readState()) as { suspense?: number }).suspense ?? 0);
    return {
      payment,
      suspenseState: async () => [await readSuspenseAmount(), await hasItem()],
    };
  }

  it('are returned together with the amount of a concurrent refund', async () => {
    const { payment, suspenseState } = await createSuspensePayment();
    expect(await suspenseState()).toEqual([60, true]);
    await decide(
      returnSuspenseFunds,
      payment.id,
      runtimeWithConcurrentWork(() => payment.notify(refundNotice(40n))),
    );
    expect(await suspenseState()).toEqual([0, false]);
  });

  it('become a shortfall if they were returned before the reversal', async () => {
    const { payment, suspenseState } = await createSuspensePayment();
    const returnFunds = () => decide(returnSuspenseFunds, payment.id, app.runtime);
    await cardNetwork(app, runtimeWithConcurrentWork(returnFunds)).notify(payment.token, REVERSAL);
    expect(await suspenseState()).toEqual([-60, true]);
  });

  it('repay a shortfall at its current amount', async () => {
    const { payment, suspenseState } = await createSuspensePayment();
    await payment.notify(refundNotice(40n));
    await decide(returnSuspenseFunds, payment.id, app.runtime);
    await payment.notify(REVERSAL);
    expect(await suspenseState()).toEqual([-40, true]);
    await decide(
      settleSuspenseShortfall,
      payment.id,
      runtimeWithConcurrentWork(() => payment.notify(REVERSAL)),
    );
    expect(await suspenseState()).toEqual([0, false]);
  });
});

describe('a clearing above the authorized amount', () => {
  it('makes no debit if the card is closed concurrently', async () => {
    const payment = await payments.startPayment();
    const { committer } = app.runtime;
    let commitCount = 0;
    const commit: typeof committer.commit = async (set) => {
      if (++commitCount === 1) await payment.close();
      return committer.commit(set);
    };
    const networkWithConcurrentClosure = cardNetwork(app, {
      ...app.runtime,
      committer: { commit },
    });
    await networkWithConcurrentClosure.notify(payment.token, { kind: 'CLEARING', amount: 120n });
    const expectedState = { status: 'SETTLED', account: '900 of 900', settled: 120, losses: -20 };
    expect(await payment.readState()).toEqual(expectedState);
    expect(commitCount).toBe(2);
  });
});

describe('an unavailable database during an authorization', () => {
  it('causes an error and no decline, so the request can be repeated', async () => {
    const fundedCard = await cardOf();
    const unavailableFault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');
    let accountReadCount = 0;
    const { db } = app.runtime;
    const readWithFault: typeof db.read = async (table, id) => {
      // The signature reads the account a second time.
      if (table.name === 'internal_accounts' && ++accountReadCount === 2) throw unavailableFault;
      return db.read(table, id);
    };
    const faultyNetwork = cardNetwork(app, { ...app.runtime, db: { ...db, read: readWithFault } });
    const request = faultyNetwork.message(fundedCard.cardId, 30_00);
    await expect(faultyNetwork.send(request)).rejects.toBe(unavailableFault);
    expect(await network.logOf(fundedCard.cardId)).toEqual([]);
    expect(await network.send(request)).toMatchObject({ approved: true });
  });
});

describe('an unavailable database during a notice', () => {
  it.each(['CLEARING', 'AUTHORIZATION_ADVICE'] as const)(
    'leaves the payment unchanged until the %s is repeated',
    async (kind) => {
      const payment = await payments.startPayment();
      const stateBefore = await payment.readState();
      const notice = { kind, amount: 120n };
      const unavailableFault = new Fault('SERVICE_UNAVAILABLE', 'The database is unavailable.');
      const { db } = app.runtime;
      const readWithFault: typeof db.read = async (table, id) => {
        if (table.name === 'internal_accounts') throw unavailableFault;
        return db.read(table, id);
      };
      const faultyNetwork = cardNetwork(app, {
        ...app.runtime,
        db: { ...db, read: readWithFault },
      });
      await expect(faultyNetwork.notify(payment.token, notice, `to ${payment.id}`)).rejects.toBe(
        unavailableFault,
      );
      expect(await payment.readState()).toEqual(stateBefore);
      expect(await network.logOf(payment.card.id)).toHaveLength(1);
      await network.notify(payment.token, notice, `to ${payment.id}`);
      await app.settle();
      expect((await payment.readState()).account).toBe('880 of 880');
      expect((await payment.readResource()).pullSummary).toMatchObject({
        count: 2,
        totalAmount: 120,
      });
    },
  );
});
