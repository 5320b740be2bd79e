// The network handler under failures: late decisions, commits with an unknown result, and messages
// about unknown payments. No funds remain on hold for an approval that the network never received.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import { readBalances } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { cardNetwork } from '../../../../test/kit/cards/card-network.ts';
import { cardFixture } from '../../../../test/kit/cards/cards.ts';
import type { CardRequestKind } from '../../../connectors/ports/cards.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { ChangeSet, Outcome } from '../../../runtime/committer/change-set.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { cardNetworkHandler } from '../index.ts';

const app = testApp();
const fixture = cardFixture(app);
let network: ReturnType<typeof cardNetwork>;
beforeAll(() => {
  network = cardNetwork(app);
});
afterEach(async () => {
  await app.settle();
  await expectBalancedBooks(app);
});

const TOO_LATE = { approved: false, reason: 'TOO_LATE' };
const DECISION_TIMEOUT_MS = 2_000;

async function cardOf(funds = 100_00) {
  const holder = await fixture.createCardholder({ funds });
  const { id } = await fixture.createCard(holder);
  return { ...holder, cardId: id as string };
}

type Commit = (set: ChangeSet) => Promise<Outcome>;

/** A process with a scripted commit, which can write with `commitChangeSet`. */
const runtimeWithCommit = (
  commit: (set: ChangeSet, commitChangeSet: Commit) => Promise<Outcome>,
): Runtime => ({
  ...app.runtime,
  committer: { commit: (set) => commit(set, (each) => app.runtime.committer.commit(each)) },
});

const opensPayment = (set: ChangeSet) =>
  set.inserts.some(({ table }) => table.name === 'transactions');

/**
 * A process whose clock passes the deadline while a payment is written, and that runs
 * `concurrentWork` at that time.
 */
const processPastDeadline = (concurrentWork: () => Promise<void> = async () => {}): Runtime =>
  runtimeWithCommit(async (set, commitChangeSet) => {
    const outcome = await commitChangeSet(set);
    if (!opensPayment(set) || !outcome.ok) return outcome;
    await concurrentWork();
    app.effects.set(app.effects.now() + DECISION_TIMEOUT_MS + 1);
    return outcome;
  });

const unknownOutcome = () =>
  Object.assign(new Error('unknown outcome'), { code: 'OUTCOME_UNKNOWN' });

/** Sends a request through a process. Returns the request, its deadline and the decision. */
async function requestThrough(runtime: Runtime, cardId: string, kind?: CardRequestKind) {
  const networkOfProcess = cardNetwork(app, runtime);
  const request = networkOfProcess.message(cardId, 30_00, kind ? { kind } : {});
  const deadline = app.effects.now() + DECISION_TIMEOUT_MS;
  return { request, deadline, decision: await networkOfProcess.send(request, deadline) };
}

const typesOf = async (id: string) =>
  (await fixture.eventsOf('CARD_TRANSACTION.', id)).map((each) => each.type.split('.')[1]);

describe('a decision after the deadline', () => {
  it('is a decline if no approval was committed', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    expect(await network.send(request, app.effects.now() - 1)).toEqual(TOO_LATE);
    expect(await network.paymentsOf(fundedCard.customer.id)).toEqual([]);
    expect(await network.logOf(fundedCard.cardId)).toMatchObject([{ reason: 'TOO_LATE' }]);
    // A repetition returns the recorded decision.
    expect(await network.send(request, Infinity)).toEqual(TOO_LATE);
  });

  it('excludes a decision exactly at the deadline', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    expect(await network.send(request, app.effects.now())).toMatchObject({ approved: true });
  });

  it.each([
    ['AUTHORIZATION', ['AUTHORIZED', 'SETTLED']],
    ['FINANCIAL_AUTHORIZATION', ['SETTLED', 'SETTLED']],
    ['CREDIT_AUTHORIZATION', ['AUTHORIZED', 'SETTLED']],
    ['FINANCIAL_CREDIT_AUTHORIZATION', ['SETTLED', 'SETTLED']],
    ['CREDIT_AUTHORIZATION_ADVICE', ['AUTHORIZED', 'SETTLED']],
  ] as const)('leaves no effect of %s', async (kind, types) => {
    const fundedCard = await cardOf();
    const { request, deadline, decision } = await requestThrough(
      processPastDeadline(),
      fundedCard.cardId,
      kind,
    );
    expect(decision).toEqual(TOO_LATE);
    // Funds of a pending debit cannot be spent until the issuer has reported its result.
    const balance = kind.includes('CREDIT') ? 100_00 : 70_00;
    expect(await readBalances(app, fundedCard.accountId)).toEqual({ balance, total: 100_00 });
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 0 } });
    if (payment.direction === 'DEBIT') {
      // The amount was debited and then released.
      expect(payment.pullSummary).toEqual({ count: 1, totalAmount: 30_00, pendingCount: 0 });
    }
    expect(await typesOf(payment.id)).toEqual(types);
    expect(await network.logOf(fundedCard.cardId)).toMatchObject([
      { approved: true, transaction_id: payment.id },
      { approved: false, reason: 'TOO_LATE', transaction_id: payment.id },
    ]);
    expect(await network.send(request, deadline + 60_000)).toEqual(TOO_LATE);
  });

  it.each([
    ['AUTHORIZATION', 'Corner shop'],
    ['FINANCIAL_AUTHORIZATION', 'Corner shop'],
    ['AUTHORIZATION', 'Corner shop 006'],
    ['FINANCIAL_AUTHORIZATION', 'Corner shop 006'],
  ] as const)('releases the amount debited by %s at %s', async (kind, descriptor) => {
    const fundedCard = await cardOf();
    const delayedNetwork = cardNetwork(app, processPastDeadline(app.settle));
    const request = delayedNetwork.message(fundedCard.cardId, 30_00, {
      kind,
      merchant: { descriptor },
    });
    expect(await delayedNetwork.send(request, app.effects.now() + DECISION_TIMEOUT_MS)).toEqual(
      TOO_LATE,
    );
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment).toMatchObject({ status: 'SETTLED', settledAmount: { amount: 0 } });
  });

  it('reverses a spent credit, which causes a shortfall', async () => {
    const fundedCard = await cardOf(0);
    const spend = async () => {
      expect(await network.request(fundedCard.cardId, 30_00)).toMatchObject({ approved: true });
    };
    const { decision } = await requestThrough(
      processPastDeadline(spend),
      fundedCard.cardId,
      'FINANCIAL_CREDIT_AUTHORIZATION',
    );
    expect(decision).toEqual(TOO_LATE);
    const [accountRow] = await app.runtime.db.query(
      'select owed from internal_accounts where id = $1',
      [fundedCard.accountId],
    );
    expect(accountRow?.owed).toBe(30_00n);
  });

  it.each([
    ['AUTHORIZATION', 70_00],
    ['FINANCIAL_AUTHORIZATION', 70_00],
    ['FINANCIAL_CREDIT_AUTHORIZATION', 130_00],
  ] as const)('allows the network to clear the %s later', async (kind, balance) => {
    const fundedCard = await cardOf();
    const { request, decision } = await requestThrough(
      processPastDeadline(),
      fundedCard.cardId,
      kind,
    );
    expect(decision).toEqual(TOO_LATE);
    await network.notify(request.token, { kind: 'CLEARING', amount: 30_00n });
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({ balance, total: balance });
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment.settlementSummary).toEqual({ count: 1, totalAmount: 30_00 });
  });

  it('remains if the network has sent a later message about it', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    const clear = () => network.notify(request.token, { kind: 'CLEARING', amount: 10_00n });
    const delayedNetwork = cardNetwork(app, processPastDeadline(clear));
    expect(
      await delayedNetwork.send(request, app.effects.now() + DECISION_TIMEOUT_MS),
    ).toMatchObject({
      approved: true,
    });
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment).toMatchObject({
      status: 'PARTIALLY_SETTLED',
      settledAmount: { amount: 10_00 },
    });
  });

  it('remains if it was received in time and is repeated', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    const firstDecision = await network.send(request, app.effects.now());
    app.effects.set(app.effects.now() + 60_000);
    expect(await network.send(request, app.effects.now() - 1)).toEqual(firstDecision);
    expect((await readBalances(app, fundedCard.accountId)).balance).toBe(70_00);
  });
});

describe('a commit with an unknown outcome', () => {
  it('returns the committed decision', async () => {
    const fundedCard = await cardOf();
    const runtime = runtimeWithCommit(async (set, commitChangeSet) => {
      const outcome = await commitChangeSet(set);
      if (opensPayment(set)) throw unknownOutcome();
      return outcome;
    });
    const { decision } = await requestThrough(runtime, fundedCard.cardId);
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(decision).toEqual({ approved: true, transactionId: payment.id });
    expect((await readBalances(app, fundedCard.accountId)).balance).toBe(70_00);
  });

  it('is reversed if it was committed after its deadline', async () => {
    const fundedCard = await cardOf();
    const runtime = runtimeWithCommit(async (set, commitChangeSet) => {
      const outcome = await commitChangeSet(set);
      if (!opensPayment(set)) return outcome;
      app.effects.set(app.effects.now() + DECISION_TIMEOUT_MS + 1);
      throw unknownOutcome();
    });
    expect((await requestThrough(runtime, fundedCard.cardId)).decision).toEqual(TOO_LATE);
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
  });

  it('is not committed after a decline was returned', async () => {
    const fundedCard = await cardOf();
    let committedSet: ChangeSet | undefined;
    let remainingFailures = 2;
    const runtime = runtimeWithCommit(async (set, commitChangeSet) => {
      if (opensPayment(set)) committedSet = set;
      // The approval and the first decline are not committed, and their results are unknown.
      if (remainingFailures-- > 0) throw unknownOutcome();
      return commitChangeSet(set);
    });
    const { decision, request } = await requestThrough(runtime, fundedCard.cardId);
    expect(decision).toEqual(TOO_LATE);
    // The commit of the approval arrives now.
    if (!committedSet) throw new Error('No payment was opened.');
    const outcome = await app.runtime.committer.commit(committedSet);
    expect(outcome).toMatchObject({ ok: false, rejection: { reason: 'exists' } });
    expect(await network.send(request)).toEqual(TOO_LATE);
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
  });

  it('records no decision without a database, and records the decision after a retry', async () => {
    const fundedCard = await cardOf();
    const runtime = runtimeWithCommit(() => Promise.reject(unknownOutcome()));
    const failingNetwork = cardNetwork(app, runtime);
    const request = failingNetwork.message(fundedCard.cardId, 30_00);
    await expect(failingNetwork.send(request)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await network.logOf(fundedCard.cardId)).toEqual([]);
    expect(await network.send(request)).toMatchObject({ approved: true });
  });

  it('is retried for the reversal of a late approval', async () => {
    const fundedCard = await cardOf();
    let remainingFailures = 2;
    const lateRuntime = processPastDeadline();
    const runtime: Runtime = {
      ...lateRuntime,
      committer: {
        commit: async (set) => {
          const outcome = await lateRuntime.committer.commit(set);
          if (!opensPayment(set) && remainingFailures-- > 0) throw unknownOutcome();
          return outcome;
        },
      },
    };
    expect((await requestThrough(runtime, fundedCard.cardId)).decision).toEqual(TOO_LATE);
    await app.settle();
    expect(await readBalances(app, fundedCard.accountId)).toEqual({
      balance: 100_00,
      total: 100_00,
    });
    expect(await network.logOf(fundedCard.cardId)).toHaveLength(2);
  });
});

describe('a permanent rejection', () => {
  it('is not retried', async () => {
    const fundedCard = await cardOf();
    const finalFault = new Fault('CONFLICT', 'The message contradicts an earlier one.');
    let attemptCount = 0;
    const runtime = runtimeWithCommit((set) => {
      attemptCount++;
      return Promise.reject(opensPayment(set) ? unknownOutcome() : finalFault);
    });
    await expect(requestThrough(runtime, fundedCard.cardId)).rejects.toBe(finalFault);
    expect(attemptCount).toBe(2);
  });
});

describe('a rejection before the decision', () => {
  it('records no decision, so the message can be repeated', async () => {
    const fundedCard = await cardOf();
    const fullQueueFault = new Fault('SERVICE_UNAVAILABLE', 'Too many requests are waiting.');
    const rejectingNetwork = cardNetwork(
      app,
      runtimeWithCommit(() => Promise.reject(fullQueueFault)),
    );
    const request = rejectingNetwork.message(fundedCard.cardId, 30_00);
    await expect(rejectingNetwork.send(request)).rejects.toBe(fullQueueFault);
    expect(await network.logOf(fundedCard.cardId)).toEqual([]);
    expect(await network.send(request)).toMatchObject({ approved: true });
  });

  it('applies to a message about an unknown payment', async () => {
    const clearing = { kind: 'CLEARING', amount: 1n } as const;
    await expect(network.notify('nothing', clearing)).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FOUND',
    });
  });

  it('applies to every message of another environment', async () => {
    const fundedCard = await cardOf();
    const deps = { connectors: app.connectorsOf, origin: () => '' };
    const productionHandler = cardNetworkHandler(app.runtime, deps, 'production');
    const request = network.message(fundedCard.cardId, 30_00);
    await expect(productionHandler.authorize(request, Infinity)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await network.send(request);
    const notice = { id: 'n', token: request.token, kind: 'AUTHORIZATION_EXPIRY' } as const;
    await expect(productionHandler.applyNotice(notice)).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FOUND',
    });
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment.status).toBe('AUTHORIZED');
  });
});

describe('an ID', () => {
  it('that belongs to another message is rejected without effect', async () => {
    const [fundedCard, otherCard] = [await cardOf(), await cardOf()];
    const firstCardRequest = network.message(fundedCard.cardId, 30_00);
    const decision = await network.send(firstCardRequest);
    expect(await network.send(firstCardRequest)).toEqual(decision);
    const conflict = { code: 'CONFLICT' };
    for (const difference of [
      { cardId: otherCard.cardId },
      { amount: 99_00n },
      { token: 'another' },
    ]) {
      await expect(network.send({ ...firstCardRequest, ...difference })).rejects.toMatchObject(
        conflict,
      );
    }
    const secondCardRequest = network.message(otherCard.cardId, 30_00);
    await network.send(secondCardRequest);
    const clearing = { kind: 'CLEARING', amount: 30_00n } as const;
    await network.notify(firstCardRequest.token, clearing, `id-${fundedCard.cardId}`);
    const repeatedNotice = network.notify(
      secondCardRequest.token,
      clearing,
      `id-${fundedCard.cardId}`,
    );
    await expect(repeatedNotice).rejects.toMatchObject(conflict);
    expect((await network.paymentsOf(otherCard.customer.id))[0].status).toBe('AUTHORIZED');
  });
});

describe('a merchant', () => {
  it('is stored as valid text for any input of a terminal', async () => {
    const fundedCard = await cardOf();
    const invalidMerchant = { descriptor: `\ud800\0${'x'.repeat(300)}`, mcc: '12345678901' };
    await network.send(network.message(fundedCard.cardId, 30_00, { merchant: invalidMerchant }));
    await network.send(
      network.message(fundedCard.cardId, 30_00, { merchant: { descriptor: '\0' } }),
    );
    const [firstPayment, secondPayment] = await network.paymentsOf(fundedCard.customer.id);
    expect(firstPayment.merchant).toEqual({
      descriptor: `\ufffd${'x'.repeat(254)}`,
      mcc: '1234567890',
    });
    expect(secondPayment.merchant).toEqual({ descriptor: '-' });
    const merchantSql = 'select card::jsonb from transactions where id = $1';
    expect(await app.runtime.db.query(merchantSql, [firstPayment.id])).toHaveLength(1);
  });
});

describe('a notice', () => {
  it('is applied and recorded once', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    await network.send(request);
    app.effects.set(app.effects.now() + 1);
    const clearing = { kind: 'CLEARING', amount: 12_00n } as const;
    await network.notify(request.token, clearing, `once-${fundedCard.cardId}`);
    await network.notify(request.token, clearing, `once-${fundedCard.cardId}`);
    const [payment] = await network.paymentsOf(fundedCard.customer.id);
    expect(payment.settlementSummary).toEqual({ count: 1, totalAmount: 12_00 });
    expect(await network.logOf(fundedCard.cardId)).toMatchObject([
      { kind: 'AUTHORIZATION', amount: 30_00n },
      {
        kind: 'CLEARING',
        amount: 12_00n,
        approved: true,
        transaction_id: payment.id,
        merchant: { descriptor: 'Corner shop' },
      },
    ]);
  });

  it('that reverses a refund is applied while the account is debited concurrently', async () => {
    const fundedCard = await cardOf(30_00);
    const { token, ...request } = network.message(fundedCard.cardId, 30_00);
    await network.send({ token, ...request });
    await app.settle();
    await network.notify(token, { kind: 'CLEARING', amount: 30_00n });
    await network.notify(token, { kind: 'RETURN', amount: 30_00n });
    let isDebited = false;
    const runtimeWithConcurrentDebit = runtimeWithCommit(async (set, commitChangeSet) => {
      if (!isDebited) {
        isDebited = true;
        expect(await network.request(fundedCard.cardId, 20_00)).toMatchObject({ approved: true });
      }
      return commitChangeSet(set);
    });
    await cardNetwork(app, runtimeWithConcurrentDebit).notify(token, { kind: 'RETURN_REVERSAL' });
    const owedSql = 'select owed from internal_accounts where id = $1';
    expect(await app.runtime.db.query(owedSql, [fundedCard.accountId])).toEqual([{ owed: 20_00n }]);
  });

  it('that is impossible is rejected and not recorded', async () => {
    const fundedCard = await cardOf();
    const request = network.message(fundedCard.cardId, 30_00);
    await network.send(request);
    const refundNotice = { kind: 'RETURN', amount: 1_00n } as const;
    await expect(network.notify(request.token, refundNotice)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await network.logOf(fundedCard.cardId)).toHaveLength(1);
  });
});
