// Funding debits in progress as shown to the operator, and the manual resolution of a debit whose
// issuer has not returned a final result.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { type CardPaymentFixture, cardPayments } from '../../../test/kit/cards/card-payments.ts';
import type { IssuerPort } from '../../connectors/ports/cards.ts';
import type { Connectors } from '../../connectors/ports/index.ts';
import { fundingDebitJobs } from '../../features/cards/clearing/funding-debits.ts';
import { createWorker } from '../../runtime/jobs/jobs.ts';
import { createLog } from '../../runtime/observability/log.ts';
import { createMetrics } from '../../runtime/observability/metrics.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';

const app = testApp();
let fixture: ReturnType<typeof cardPayments>;
beforeAll(() => {
  fixture = cardPayments(app);
});
afterAll(() => app.settle());

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

const clearingNotice = (amount: number) => ({ kind: 'CLEARING', amount: BigInt(amount) }) as const;
const EXPIRY = { kind: 'AUTHORIZATION_EXPIRY' } as const;
const SLOW_MERCHANT = { descriptor: 'Shop 005' };
const WAIT_MS = 30_000;
const REASON_FLAGS = ['--reason', 'Confirmed by the issuer'];

const resolveDebit = (
  { id }: Pick<CardPaymentFixture, 'id'>,
  outcome: string,
  ...flags: string[]
) => run('cards', 'resolve-debit', id, '--as', outcome, ...REASON_FLAGS, ...flags);

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);

/** A worker whose issuer answers every status request for a funding debit with `check`. */
const workerWithIssuer = (check: IssuerPort['checkFundingDebit'], runtime: Runtime = app.runtime) =>
  createWorker({
    runtime,
    handlers: fundingDebitJobs({
      connectors: () => ({ issuer: { checkFundingDebit: check } }) as Connectors,
    }),
    sweeps: [],
    log: createLog(app.effects, 'silent', () => {}),
    metrics: createMetrics(),
  });

const workerWithUnreachableIssuer = () =>
  workerWithIssuer(() => Promise.reject(new Error('no answer')));

/** A runtime that runs `concurrentWork` before the first commit that changes a payment. */
function runtimeWith(concurrentWork: () => Promise<unknown>): Runtime {
  const { committer } = app.runtime;
  let changeCount = 0;
  const commit: typeof committer.commit = async (set) => {
    const isPaymentChange = set.updates.some(({ table }) => table.name === 'transactions');
    if (isPaymentChange && ++changeCount === 1) await concurrentWork();
    return committer.commit(set);
  };
  return { ...app.runtime, committer: { commit } };
}

/** The recorded input of the operator. */
const railResultsOf = ({ id }: CardPaymentFixture) => {
  const text = 'select kind, state, reason from rail_results where transaction_id = $1 order by id';
  return app.runtime.db.query(text, [id]);
};

describe('cards funding-debits', () => {
  it('lists pending funding debits, oldest first, with the number of status requests', async () => {
    expect((await run('cards', 'funding-debits')).out).toBe('None.\n');
    await fixture.startPayment();
    const startTime = new Date(app.effects.now()).toISOString();
    const firstPayment = await fixture.startPayment(SLOW_MERCHANT);
    advanceClock(1_000);
    const secondPayment = await fixture.startPayment({
      ...SLOW_MERCHANT,
      amount: 70,
      currency: 'USDB',
      funds: 1_000_000,
    });
    const readAttempts = async (...flags: string[]) =>
      (await runJson('cards', 'funding-debits', ...flags)).map(
        (each: { transactionId: string; attempts: number }) => [each.transactionId, each.attempts],
      );
    expect(await runJson('cards', 'funding-debits')).toEqual([
      {
        ...{ transactionId: firstPayment.id, platformId: app.platform.id, environment: 'sandbox' },
        ...{
          customerId: firstPayment.card.cardholderId,
          cardId: firstPayment.card.id,
          number: 1,
          since: startTime,
        },
        ...{
          attempts: 1,
          status: 'AUTHORIZED',
          accountId: firstPayment.accountId,
          merchant: 'Shop 005',
        },
        ...{ amount: 100, readable: '1.00', currency: 'USD' },
      },
      expect.objectContaining({ transactionId: secondPayment.id, amount: 70, currency: 'USD' }),
    ]);
    const { out } = await run('cards', 'funding-debits');
    expect(out).toMatch(/^SINCE +TRANSACTION +STATUS +DEBIT +AMOUNT +ATTEMPTS +MERCHANT\n/);
    expect(out).toMatch(/ AUTHORIZED +1 +0\.70 +1 +Shop 005\n$/);
    advanceClock(WAIT_MS);
    await workerWithUnreachableIssuer().runDue();
    expect(await readAttempts()).toEqual([
      [firstPayment.id, 2],
      [secondPayment.id, 2],
    ]);
    advanceClock(WAIT_MS);
    await workerWithIssuer(async () => ({ state: 'pending', checkAfterMs: WAIT_MS })).runDue();
    expect(await readAttempts('--limit', '1')).toEqual([[firstPayment.id, 3]]);
    expect(await readAttempts('--platform', app.other.id)).toEqual([]);
    expect(await readAttempts('--platform', app.platform.id)).toHaveLength(2);
    expect((await run('cards', 'funding-debits', '--limit', '0')).code).toBe(2);
    // A resolved debit is no longer listed, although its job runs once more.
    await resolveDebit(firstPayment, 'completed');
    expect(await readAttempts()).toEqual([[secondPayment.id, 3]]);
    await resolveDebit(secondPayment, 'completed');
    expect(await readAttempts()).toEqual([]);
  });
});

describe('cards resolve-debit', () => {
  it('settles the payment of a completed debit, and allows the deletion of the customer', async () => {
    const payment = await fixture.startPayment({
      ...SLOW_MERCHANT,
      funds: 100,
      kind: 'financial_authorization',
    });
    const deleteCustomer = () => app.call('DELETE', `/customers/${payment.card.cardholderId}`);
    expect((await deleteCustomer()).status).toBe(409);
    const { out } = await resolveDebit(payment, 'completed');
    expect(out).toBe(
      `Funding debit 1 of ${payment.id}, 1.00 USD, is CONFIRMED. The payment is SETTLED.\n`,
    );
    const settledState = { status: 'SETTLED', account: '0 of 0', settled: 100 };
    expect(await payment.readState()).toEqual(settledState);
    expect(await railResultsOf(payment)).toEqual([
      { kind: 'card', state: 'settled', reason: 'Confirmed by the issuer' },
    ]);
    // The remaining job has no effect.
    await app.advance(WAIT_MS);
    expect(await payment.readState()).toEqual(settledState);
    expect(await payment.readEvents()).toEqual(['0 of 100', 'SETTLED', '0 of 0']);
    ok(await deleteCustomer(), 200);
  });

  it('sets a payment to EXCEPTION if its debit failed, and the account can be closed', async () => {
    const payment = await fixture.startPayment({
      ...SLOW_MERCHANT,
      funds: 100,
      kind: 'financial_authorization',
    });
    const close = () => run('accounts', 'close', payment.accountId);
    expect((await close()).err).toBe(
      'A payment of the account is in progress. Retry after its completion.\n',
    );
    const resolvedOutput = await runJson(
      'cards',
      'resolve-debit',
      payment.id,
      '--as',
      'failed',
      ...REASON_FLAGS,
    );
    expect(resolvedOutput).toEqual({
      ...{ transactionId: payment.id, status: 'EXCEPTION', number: 1, debitStatus: 'STUCK' },
      ...{ amount: 100, readable: '1.00', currency: 'USD', reason: 'Confirmed by the issuer' },
    });
    const failedState = { status: 'EXCEPTION', account: '0 of 100', cards: -100, settled: 100 };
    expect(await payment.readState()).toEqual(failedState);
    await runJson('cards', 'resolve', payment.id, '--outcome', 'collect');
    expect((await railResultsOf(payment)).map((each) => each.state).sort()).toEqual([
      'failed',
      'settled',
    ]);
    expect((await close()).code).toBe(0);
  });

  it('releases an amount that is no longer owed', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(EXPIRY);
    const { out } = await resolveDebit(payment, 'failed');
    expect(out).toBe(
      `Funding debit 1 of ${payment.id}, 1.00 USD, is FAILED. The payment is SETTLED.\n`,
    );
    expect(await payment.readState()).toEqual({ status: 'SETTLED', account: '1000 of 1000' });
  });

  it('requires the number if there are several', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    await payment.notify(clearingNotice(150));
    expect((await resolveDebit(payment, 'completed')).err).toBe(
      'The payment has several pending funding debits. Specify one: 1 or 2.\n',
    );
    expect((await resolveDebit(payment, 'completed', '--number', '2')).code).toBe(0);
    expect((await payment.readState()).account).toBe('850 of 950');
    expect((await resolveDebit(payment, 'completed', '--number', '2')).err).toBe(
      'The payment has no pending funding debit 2.\n',
    );
    expect((await resolveDebit(payment, 'completed')).code).toBe(0);
    expect(await payment.readState()).toEqual({
      status: 'SETTLED',
      account: '850 of 850',
      settled: 150,
    });
    expect((await resolveDebit(payment, 'failed')).err).toBe(
      'The payment has no pending funding debit.\n',
    );
  });

  it('has no effect if the issuer responds before the commit', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    advanceClock(WAIT_MS);
    const runtime = runtimeWith(workerWithIssuer(async () => ({ state: 'confirmed' })).runDue);
    const args = ['cards', 'resolve-debit', payment.id, '--as', 'failed', ...REASON_FLAGS];
    const { code, err } = await commandRunner({ ...app, runtime })(args);
    expect([code, err]).toEqual([1, 'The payment has no pending funding debit.\n']);
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '900 of 900',
      cards: 100,
    });
    expect(await railResultsOf(payment)).toEqual([]);
  });

  it('keeps the decision of the operator if the issuer responds later', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    advanceClock(WAIT_MS);
    const runtime = runtimeWith(() => resolveDebit(payment, 'completed'));
    await workerWithIssuer(async () => ({ state: 'failed' }), runtime).runDue();
    expect(await payment.readState()).toEqual({
      status: 'AUTHORIZED',
      account: '900 of 900',
      cards: 100,
    });
    expect(await railResultsOf(payment)).toHaveLength(1);
    const jobsSql = "select 1 from jobs where input ->> 'transactionId' = $1";
    expect(await app.runtime.db.query(jobsSql, [payment.id])).toEqual([]);
  });

  it('accepts card payments only, and two outcomes with a reason', async () => {
    const payment = await fixture.startPayment(SLOW_MERCHANT);
    expect((await resolveDebit(payment, 'unknown')).code).toBe(2);
    expect((await resolveDebit(payment, 'completed', '--number', '0')).code).toBe(2);
    expect((await run('cards', 'resolve-debit', payment.id, '--as', 'completed')).code).toBe(2);
    expect((await resolveDebit({ id: 'CardTransaction:x' }, 'completed')).code).toBe(1);
    const [deposit] = (await app.call('GET', '/transactions?type=INCOMING&limit=1')).body.data;
    expect((await resolveDebit(deposit, 'completed')).err).toBe('Card payment not found.\n');
    expect((await payment.readState()).account).toBe('900 of 1000');
    await resolveDebit(payment, 'completed');
  });
});
