// Approvals that are undone because they are late: repetitions of the request, further messages
// with the token, funding debits of the issuer, and write-offs.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import { readBalances } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import type { CardDecision, CardRequest } from '../../../connectors/ports/cards.ts';
import type { ChangeSet } from '../../../runtime/committer/change-set.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { resolveException } from '../clearing/exceptions.ts';
import { cardPaymentOf } from '../clearing/payment.ts';

const app = testApp();
let network: ReturnType<typeof cardNetwork>;
beforeAll(() => {
  network = cardNetwork(app);
});
afterEach(async () => {
  await app.advance(60_000);
  await expectBalancedBooks(app);
});

const TOO_LATE = { approved: false, reason: 'TOO_LATE' };

async function createFundedCard() {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder({ funds: 100_00 });
  const { id } = await fixture.createCard(holder);
  return { ...holder, cardId: id as string };
}

const opensPayment = (set: ChangeSet) =>
  set.inserts.some(({ table }) => table.name === 'transactions');

/**
 * A process whose clock passes the deadline while a payment is written, and that runs
 * `concurrentWork` at that time.
 */
const processPastDeadline = (concurrentWork: () => unknown = () => {}): Runtime => ({
  ...app.runtime,
  committer: {
    async commit(set) {
      const outcome = await app.runtime.committer.commit(set);
      if (opensPayment(set) && outcome.ok) {
        await concurrentWork();
        app.effects.set(app.effects.now() + 2_001);
      }
      return outcome;
    },
  },
});

const sendWithDeadline = (handler: ReturnType<typeof cardNetwork>, request: CardRequest) =>
  handler.send(request, app.effects.now() + 2_000);

/** A payment whose approval was late and is undone. */
async function undoLatePayment(merchant?: string) {
  const fundedCard = await createFundedCard();
  const request = network.message(fundedCard.cardId, 30_00, {
    ...(merchant === undefined ? {} : { merchant: { descriptor: merchant } }),
  });
  expect(await sendWithDeadline(cardNetwork(app, processPastDeadline()), request)).toEqual(
    TOO_LATE,
  );
  const readPayment = async () => (await network.paymentsOf(fundedCard.customer.id))[0];
  return { fundedCard, request, readPayment };
}

describe('a repetition with a later deadline', () => {
  it('receives the decision of the first request after its completion', async () => {
    const fundedCard = await createFundedCard();
    const request = network.message(fundedCard.cardId, 30_00);
    const repeatedDecisions: Promise<CardDecision>[] = [];
    const delayedNetwork = cardNetwork(
      app,
      processPastDeadline(() => {
        for (let index = 0; index < 3; index++)
          repeatedDecisions.push(delayedNetwork.send(request, Infinity));
        // Enough time for another request to read the approval before it is undone.
        return app.runtime.db.query('select pg_sleep(0.2)', []);
      }),
    );
    expect(await sendWithDeadline(delayedNetwork, request)).toEqual(TOO_LATE);
    expect(repeatedDecisions).toHaveLength(3);
    expect(await Promise.all(repeatedDecisions)).toEqual([TOO_LATE, TOO_LATE, TOO_LATE]);
    expect(await network.logOf(fundedCard.cardId)).toHaveLength(2);
  });

  it('is decided if the first request reached no decision', async () => {
    const fundedCard = await createFundedCard();
    const request = network.message(fundedCard.cardId, 30_00);
    const shutdownError = new Error('the server is going down');
    let failureCount = 1;
    const runtime: Runtime = {
      ...app.runtime,
      committer: {
        commit: async (set) => {
          if (failureCount-- > 0) throw shutdownError;
          return app.runtime.committer.commit(set);
        },
      },
    };
    const failingNetwork = cardNetwork(app, runtime);
    const [firstSend, secondSend] = await Promise.allSettled([
      failingNetwork.send(request),
      failingNetwork.send(request),
    ]);
    const outcomes = [firstSend, secondSend].map((each) => each.status).sort();
    expect(outcomes).toEqual(['fulfilled', 'rejected']);
    expect(await network.send(request)).toMatchObject({ approved: true });
  });
});

describe('a pending funding debit of a late approval', () => {
  it('remains on hold until the issuer confirms it, and is then released', async () => {
    const { fundedCard, readPayment } = await undoLatePayment('Corner shop 005');
    await app.advance(29_999);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 70_00,
      total: 100_00,
    });
    expect(await readPayment()).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 0 } });
    await app.advance(1);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
  });

  it('is released if the issuer rejected it', async () => {
    const { fundedCard, readPayment } = await undoLatePayment('Corner shop 006');
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 70_00,
      total: 100_00,
    });
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
    expect(await readPayment()).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 0 } });
  });

  it('covers amounts that the network cleared concurrently', async () => {
    const { fundedCard, request, readPayment } = await undoLatePayment('Corner shop 005');
    await network.notify(request.token, { kind: 'CLEARING', amount: 10_00n });
    await app.advance(30_000);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({ balance: 90_00, total: 90_00 });
    expect(await readPayment()).toMatchObject({
      status: 'SETTLED',
      settledAmount: { amount: 10_00 },
    });
  });
});

describe('an approval that an operator has written off', () => {
  it('remains approved and leaves the balance unchanged', async () => {
    const fundedCard = await createFundedCard();
    const request = network.message(fundedCard.cardId, 30_00, {
      kind: 'FINANCIAL_AUTHORIZATION',
      merchant: { descriptor: 'Corner shop 006' },
    });
    const writeOff = async () => {
      await app.settle();
      const [{ id, status }] = await network.paymentsOf(fundedCard.customer.id);
      expect(status).toBe('EXCEPTION');
      await app.operate(async (ctx) => {
        await resolveException(ctx, await cardPaymentOf(ctx, id), { outcome: 'write-off' });
      });
    };
    const decision = await sendWithDeadline(
      cardNetwork(app, processPastDeadline(writeOff)),
      request,
    );
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
    expect(decision).toMatchObject({ approved: true });
  });
});

describe('another message with the token of an undone approval', () => {
  it('is also late and is recorded', async () => {
    const { fundedCard, request } = await undoLatePayment();
    const secondRequest = network.message(fundedCard.cardId, 30_00, { token: request.token });
    expect(await network.send(secondRequest)).toEqual(TOO_LATE);
    expect(await network.send(secondRequest)).toEqual(TOO_LATE);
    const [, , lastEntry, ...furtherEntries] = await network.logOf(fundedCard.cardId);
    expect(lastEntry).toMatchObject({ approved: false, reason: 'TOO_LATE', transaction_id: null });
    expect(furtherEntries).toEqual([]);
    expect(await network.paymentsOf(fundedCard.customer.id)).toHaveLength(1);
  });

  it('opens no further payment if the network has cleared the approval', async () => {
    const { fundedCard, request } = await undoLatePayment();
    await network.notify(request.token, { kind: 'CLEARING', amount: 10_00n });
    const secondRequest = network.message(fundedCard.cardId, 30_00, { token: request.token });
    await expect(network.send(secondRequest)).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
