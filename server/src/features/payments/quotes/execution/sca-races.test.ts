// Concurrent operations on a payment that awaits authorization: two proofs, two executions, a proof and the
// expiry, and the removal of trust. The competing operation runs after all reads and before all writes.
// Exactly one of the two operations has an effect.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventTypes, ok, quoteBody, readBalances } from '../../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../../test/kit/customers/contacts.ts';
import {
  authorize,
  CODE,
  createQuotedPayout,
  createScaPayer,
  execute,
  type ScaPayer,
} from '../../../../../test/kit/sca/strong-customers.ts';
import type { Job } from '../../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { scaChallenges } from '../../../sca/authentication/store.ts';
import { transactions } from '../../transactions/store.ts';
import { authorizationExpiryJobs } from './authorization-expiry.ts';

const app = testApp();
let payer: ScaPayer;
beforeAll(async () => {
  payer = await createScaPayer(app, { usdc: 0 });
});
beforeEach(() => app.advance(60_000));

const AUTHORIZED = ['PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING'];
const CHALLENGE_EXPIRED = ['PENDING', 'PENDING_AUTHORIZATION', 'FAILED'];

const get = async (path: string) => ok(await app.call('GET', path), 200);
const sortedStatusesOf = (responses: ApiResponse[]) => responses.map(({ status }) => status).sort();
const eventsOf = async (id: string) =>
  (await eventTypes(app, id)).map((type) => type.replace('OUTGOING_PAYMENT.', ''));

async function createPendingQuote() {
  const { quote, target } = await createQuotedPayout(app, payer, { amount: 10_00 });
  const { scaChallenge: challenge } = ok(await execute(app, quote.id), 200);
  const balancesBefore = await readBalances(app, payer.eur.id);
  return { quote, target, challenge, balancesBefore };
}

/** An operation of the server, to be run with an interruption. */
function operationOf(operationId: string) {
  const operation = app.operations.find(({ contract }) => contract.operationId === operationId);
  if (!operation) throw new Error(`The operation ${operationId} was not found.`);
  return operation;
}

/** Runs `work` and, on its first attempt only, `concurrentWork` between its reads and its commit. */
function runInterrupted<R>(work: (ctx: Ctx) => Promise<R>, concurrentWork: () => Promise<unknown>) {
  let attemptCount = 0;
  return app.operate(async (ctx) => {
    const result = await work(ctx);
    if (++attemptCount === 1) await concurrentWork();
    return result;
  });
}

const authorizeWithCode = (quoteId: string) => (ctx: Ctx) =>
  operationOf('authorizeQuote').run(ctx, {
    params: { quoteId },
    query: {},
    headers: {},
    body: { code: CODE },
  });

async function prepareExpiry(quoteId: string, challengeId: string) {
  const [handler] = authorizationExpiryJobs();
  const job = { input: { quoteId, challengeId } } as unknown as Job;
  const result = await handler?.run(app.runtime, job);
  if (!result) throw new Error('The handler was not found.');
  return result.stage;
}

describe('concurrent or repeated requests', () => {
  it('to authorize debit the funds once', async () => {
    const { quote, balancesBefore } = await createPendingQuote();
    const responses = await Promise.all([1, 2].map(() => authorize(app, quote.id)));
    expect(sortedStatusesOf(responses)).toEqual([200, 409]);
    expect((await readBalances(app, payer.eur.id)).balance).toBe(balancesBefore.balance - 10_00);
    expect(await eventsOf(quote.transactionId)).toEqual(AUTHORIZED);
  });

  it('to execute create one challenge and send one code', async () => {
    const { quote } = await createQuotedPayout(app, payer, { amount: 10_00 });
    const messageCountBefore = (await messagesTo(app, payer.person.id)).length;
    const responses = await Promise.all([1, 2].map(() => execute(app, quote.id)));
    expect(sortedStatusesOf(responses)).toEqual([200, 409]);
    expect((await messagesTo(app, payer.person.id)).length).toBe(messageCountBefore + 1);
    const challenges = await app.runtime.db.find(scaChallenges, { subject: quote.id });
    expect(challenges).toHaveLength(1);
    ok(await authorize(app, quote.id), 200);
  });

  it('with one idempotency key have one result', async () => {
    const { quote } = await createQuotedPayout(app, payer, { amount: 10_00 });
    const headers = { 'idempotency-key': 'executed-in-the-region' };
    const firstBody = ok(await execute(app, quote.id, {}, { headers }), 200);
    expect(ok(await execute(app, quote.id, {}, { headers }), 200)).toEqual(firstBody);
    const proof = { code: CODE };
    const options = { headers: { 'idempotency-key': 'authorized-in-the-region' } };
    const result = ok(await authorize(app, quote.id, proof, options), 200);
    expect(ok(await authorize(app, quote.id, proof, options), 200)).toEqual(result);
    expect(ok(await execute(app, quote.id, {}, { headers }), 200)).toEqual(firstBody);
    expect(await eventsOf(quote.transactionId)).toEqual(AUTHORIZED);

    const body = quoteBody(payer.eur.id, quote.destination.accountId, 10_00, {
      immediatelyExecute: true,
    });
    await app.advance(60_000);
    const keyOptions = { headers: { 'idempotency-key': 'made-in-the-region' } };
    const createdQuote = ok(await app.call('POST', '/quotes', body, keyOptions), 201);
    expect(createdQuote.status).toBe('PENDING_AUTHORIZATION');
    expect(ok(await app.call('POST', '/quotes', body, keyOptions), 201)).toEqual(createdQuote);
    ok(await authorize(app, createdQuote.id), 200);
  });
});

describe('proof and expiry', () => {
  it('start the payment if the proof commits first', async () => {
    const { quote, challenge, balancesBefore } = await createPendingQuote();
    const stage = await prepareExpiry(quote.id, challenge.id);
    const expiry = Date.parse(challenge.expiresAt);
    app.effects.set(expiry);
    await runInterrupted(stage, async () => {
      app.effects.set(expiry - 1);
      ok(await authorize(app, quote.id), 200);
      app.effects.set(expiry);
    });
    expect(await eventsOf(quote.transactionId)).toEqual(AUTHORIZED);
    expect((await readBalances(app, payer.eur.id)).balance).toBe(balancesBefore.balance - 10_00);
    expect((await app.runtime.db.read(scaChallenges, challenge.id))?.status).toBe('SATISFIED');
    // Runs the due job.
    await app.advance(10 * 60_000);
    expect(await eventsOf(quote.transactionId)).toEqual([...AUTHORIZED, 'COMPLETED']);
  });

  it('fail the payment if the expiry commits first', async () => {
    const { quote, challenge, balancesBefore } = await createPendingQuote();
    const stage = await prepareExpiry(quote.id, challenge.id);
    const expiredProof = runInterrupted(authorizeWithCode(quote.id), () => {
      app.effects.set(Date.parse(challenge.expiresAt));
      return app.operate(stage);
    });
    await expect(expiredProof).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await eventsOf(quote.transactionId)).toEqual(CHALLENGE_EXPIRED);
    expect(await readBalances(app, payer.eur.id)).toEqual(balancesBefore);
    await app.advance(10 * 60_000);
    expect(await eventsOf(quote.transactionId)).toEqual(CHALLENGE_EXPIRED);
    const payment = await app.runtime.db.read(transactions, quote.transactionId);
    expect(payment).toMatchObject({ status: 'FAILED', funds: 'NONE' });
  });

  it('emit one event if the expiry is repeated, as after a crash', async () => {
    const { quote, challenge } = await createPendingQuote();
    const stage = await prepareExpiry(quote.id, challenge.id);
    app.effects.set(Date.parse(challenge.expiresAt));
    await runInterrupted(stage, () => app.operate(stage));
    await app.operate(stage);
    expect(await eventsOf(quote.transactionId)).toEqual(CHALLENGE_EXPIRED);
  });

  it('have no effect if the expiry runs early because of clock drift', async () => {
    const { quote, challenge } = await createPendingQuote();
    const expiry = Date.parse(challenge.expiresAt);
    app.effects.set(expiry - 1);
    await app.operate(await prepareExpiry(quote.id, challenge.id));
    await app.settle();
    expect((await app.runtime.db.read(scaChallenges, challenge.id))?.status).toBe('PENDING');
    await app.advance(1);
    expect(await eventsOf(quote.transactionId)).toEqual(CHALLENGE_EXPIRED);
  });
});

describe('a proof for funds that are spent before its commit', () => {
  it('is discarded, and the challenge remains valid', async () => {
    const ownPayer = await createScaPayer(app, { eur: 100_00, usdc: 0 });
    const { quote } = await createQuotedPayout(app, ownPayer, { amount: 100_00 });
    ok(await execute(app, quote.id), 200);
    await app.advance(60_000);
    const otherPayout = await createQuotedPayout(app, ownPayer, { amount: 60_00 });
    ok(await execute(app, otherPayout.quote.id), 200);
    const concurrentWork = async () => void ok(await authorize(app, otherPayout.quote.id), 200);
    const lateProof = runInterrupted(authorizeWithCode(quote.id), concurrentWork);
    await expect(lateProof).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect((await get(`/quotes/${quote.id}`)).status).toBe('PENDING_AUTHORIZATION');
    expect((await readBalances(app, ownPayer.eur.id)).balance).toBe(40_00);
    const { data } = ok(
      await app.call('GET', `/transactions?customerId=${ownPayer.person.id}&type=OUTGOING`),
      200,
    );
    expect(data.map(({ status }: { status: string }) => status).sort()).toEqual([
      'PENDING_AUTHORIZATION',
      'PROCESSING',
    ]);
  });
});

describe('removal of trust before the commit of an execution', () => {
  it('results in a challenge', async () => {
    const { target, quote: firstQuote } = await createPendingQuote();
    ok(await authorize(app, firstQuote.id), 200);
    const path = `/customers/external-accounts/${target.id}`;
    const changeTrust = async (action: string) => {
      ok(await app.call('POST', `${path}/${action}`), 200);
      ok(await app.call('POST', `${path}/${action}/confirm`, { code: CODE }), 200);
    };
    await changeTrust('trust');
    const body = quoteBody(payer.eur.id, target.id, 10_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const runExecute = (ctx: Ctx) =>
      operationOf('executeQuote').run(ctx, {
        params: { quoteId: quote.id },
        query: {},
        headers: {},
        body: {},
      });
    const response = await runInterrupted(runExecute, () => changeTrust('untrust'));
    expect(response).toMatchObject({ status: 200, body: { status: 'PENDING_AUTHORIZATION' } });
  });
});

describe('concurrent failed attempts', () => {
  it('are limited to five across all challenges of a customer', async () => {
    const scaPayer = await createScaPayer(app, { usdc: 0 });
    const { id } = scaPayer.person;
    const { quote, target } = await createQuotedPayout(app, scaPayer, { amount: 10_00 });
    ok(await execute(app, quote.id), 200);
    const trustPath = `/customers/external-accounts/${target.id}/trust`;
    ok(await app.call('POST', trustPath), 200);
    const customerQuery = `?customerId=${id}`;
    const factor = 'SMS_OTP';
    const { challengeId } = ok(
      await app.call('POST', `/sca/login/start${customerQuery}`, { factor }),
      200,
    );
    const code = '000000';
    const requests: (() => Promise<ApiResponse>)[] = [
      () => authorize(app, quote.id, { code }),
      () => app.call('POST', `${trustPath}/confirm`, { code }),
      () =>
        app.call('POST', `/sca/login/complete${customerQuery}`, {
          ...{ factor, challengeId, code, endUserIpAddress: '203.0.113.7' },
        }),
    ];
    const responses = await Promise.all(
      [1, 2, 3, 4].flatMap(() => requests.map((request) => request())),
    );
    // Requests over the limit are rejected and do not count as failed attempts.
    const failedAttempts = sortedStatusesOf(responses).filter(
      (status) => status !== 423 && status !== 503,
    );
    expect(failedAttempts).toEqual([400, 400, 400, 400, 400]);
    const rejectedResponse = await authorize(app, quote.id);
    expect([rejectedResponse.status, rejectedResponse.body.details.failedAttempts]).toEqual([
      423, 5,
    ]);
    expect((await readBalances(app, scaPayer.eur.id)).balance).toBe(1_000_00);
  });
});
