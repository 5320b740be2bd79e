// Retries and cancellations of the jobs that send payouts. A provider that has paid without a reply
// pays once, and the funds of a payout are debited once and refunded at most once.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { payoutJobs } from '../../src/features/payments/payouts/payout-jobs.ts';
import { OUTAGE_ATTEMPTS } from '../../src/runtime/jobs/job-failures.ts';
import { createWorker, type Worker } from '../../src/runtime/jobs/jobs.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { createMetrics } from '../../src/runtime/observability/metrics.ts';
import { createExternalAccount, ok, quoteBody, readBalances } from '../kit/app/fixtures.ts';
import { startProduction } from '../kit/app/production.ts';
import { openForFile } from '../kit/app/test-app.ts';
import {
  type PaymentProvider,
  railOver,
  startPaymentProvider,
} from '../kit/http/payment-provider.ts';

let provider: PaymentProvider;
const server = openForFile(startProduction);
beforeEach(async () => {
  provider = await startPaymentProvider();
});
afterEach(() => provider.close());

const HOUR = 3_600_000;

function workerOver(options: Parameters<typeof railOver>[2] = {}): Worker {
  const { runtime, effects } = server.app;
  const rail = railOver(effects, provider, options);
  return createWorker({
    runtime,
    handlers: payoutJobs(() => ({ rail })),
    sweeps: [],
    log: createLog(effects, 'error', () => undefined),
    metrics: createMetrics(),
  });
}

/** Creates a payout whose job has not sent it yet. */
async function createPayout() {
  const payer = await server.createPayer('1000.00');
  await server.app.settle();
  const body = quoteBody(payer.account, await server.createPayee(payer.person.id), 100_00);
  const quote = ok(await server.app.call('POST', '/quotes', body, server.callOptions), 201);
  const headers = { 'idempotency-key': quote.id };
  const url = `/quotes/${quote.id}/execute`;
  ok(await server.app.call('POST', url, undefined, { ...server.callOptions, headers }), 200);
  const id = quote.transactionId as string;
  return { ...payer, id };
}

/** The job of a kind for a transaction, read by the operator's command. */
async function jobOf(id: string, kind: string) {
  const allJobs: { jobId: string; state: string; about: Record<string, string> }[] =
    await server.runJson(...['jobs', 'list', '--kind', kind, '--limit', '1000']);
  return allJobs.find((job) => job.about.transactionId === id);
}

/** Runs the job until it is dead, skipping most of its attempts. Returns its ID. */
async function runUntilDead(id: string, worker: Worker): Promise<string> {
  for (let round = 0; round < 30; round++) {
    const job = await jobOf(id, 'payout.send');
    if (job?.state === 'dead') return job.jobId;
    await worker.runDue();
    server.app.effects.set(server.app.effects.now() + HOUR);
    if (!job) continue;
    await server.app.runtime.db.query(
      'update jobs set attempts = greatest(attempts, $2) where id = $1',
      [job.jobId, OUTAGE_ATTEMPTS - 3],
    );
  }
  throw new Error(`the job of ${id} is not dead after 30 runs`);
}

async function waitForRunningJob(id: string) {
  for (;;) {
    const job = await jobOf(id, 'payout.send');
    if (job?.state === 'running' && provider.sends.includes(id)) return job.jobId;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const readFunds = ({ account }: { account: string }) =>
  readBalances(server.app, account, server.callOptions);
const HELD_BALANCE = { balance: 900_00, total: 1_000_00 };
const PAID_BALANCE = { balance: 900_00, total: 900_00 };
const REFUNDED_BALANCE = { balance: 1_000_00, total: 1_000_00 };

describe('a retry', () => {
  it('of a send whose payment had no reply pays once, from two processes', async () => {
    const payment = await createPayout();
    provider.behavior = 'silent';
    const workers = [workerOver(), workerOver()] as const;
    const job = await runUntilDead(payment.id, workers[0]);
    expect(await server.readStatus(payment.id)).toBe('PROCESSING - -');
    expect(await readFunds(payment)).toEqual(HELD_BALANCE);
    provider.behavior = 'pays';
    const retries = await Promise.all([
      server.run('jobs', 'retry', job),
      server.run('jobs', 'retry', job),
    ]);
    expect(retries.map(({ code }) => code)).toContain(0);
    await Promise.all(workers.map((worker) => worker.runDue()));
    expect(await server.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(provider.paidIds).toEqual([payment.id]);
    expect(new Set(provider.sends)).toEqual(new Set([payment.id]));
    expect(await readFunds(payment)).toEqual(PAID_BALANCE);
    expect((await server.run('jobs', 'retry', job)).code).toBe(1);
  }, 60_000);

  it('while the job runs is rejected, and so is a cancellation', async () => {
    const payment = await createPayout();
    provider.behavior = 'silent';
    const run = workerOver({ timeoutMs: 3_000 }).runDue();
    const job = await waitForRunningJob(payment.id);
    await server.expectRejected(
      'The job is running. Only failed jobs can be retried.',
      'jobs',
      'retry',
      job,
    );
    await server.expectRejected('The job is running.', 'jobs', 'cancel', job, '--reason', 'x');
    expect(await readFunds(payment)).toEqual(HELD_BALANCE);
    await run;
    provider.behavior = 'pays';
    expect((await server.run('jobs', 'retry', job)).code).toBe(0);
    await workerOver().runDue();
    expect(provider.paidIds).toEqual([payment.id]);
    expect(await server.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(await readFunds(payment)).toEqual(PAID_BALANCE);
  });

  it('of a payout with an unknown result requests the status and does not send again', async () => {
    const payment = await createPayout();
    provider.behavior = 'error';
    await workerOver({ returnsUnknown: true }).runDue();
    expect(await server.readStatus(payment.id)).toBe('PROCESSING - -');
    expect(await readFunds(payment)).toEqual(HELD_BALANCE);
    const checkJob = await jobOf(payment.id, 'payout.check');
    expect(checkJob?.state).toBe('queued');
    server.app.effects.set(server.app.effects.now() + 1_000);
    await workerOver().runDue();
    expect([provider.sends, provider.checks]).toEqual([[payment.id], [payment.id]]);
    expect(await server.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(await readFunds(payment)).toEqual(PAID_BALANCE);
  });
});

const cancelJob = async (id: string, kind = 'payout.send') => {
  const job = await jobOf(id, kind);
  await server.runJson(
    'jobs',
    'cancel',
    job?.jobId ?? '',
    '--reason',
    'The bank replies by telephone',
  );
};

describe('jobs cancel', () => {
  it('of a dead send leaves the payout to the operator, who settles it once', async () => {
    const payment = await createPayout();
    provider.behavior = 'silent';
    await runUntilDead(payment.id, workerOver());
    await cancelJob(payment.id);
    expect(await readFunds(payment)).toEqual(HELD_BALANCE);
    expect(await server.readStatus(payment.id)).toBe('PROCESSING - -');
    expect(await server.readQueue(payment.id)).toMatchObject([{ kind: 'payout', amount: 91_08 }]);
    await server.runJson('payouts', 'settle', payment.id, '--reference', 'BANK-1');
    expect(await server.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(await readFunds(payment)).toEqual(PAID_BALANCE);
    const failCommand = ['payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID'];
    await server.expectRejected('No result is expected', ...failCommand);
    await workerOver().runDue();
    expect(provider.paidIds).toEqual([payment.id]);
  }, 60_000);

  it('of a send that never ran lets the operator fail the payout with one refund', async () => {
    const payment = await createPayout();
    await cancelJob(payment.id);
    expect(await readFunds(payment)).toEqual(HELD_BALANCE);
    await server.runJson('payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID');
    while ((await workerOver().runDue()) > 0);
    expect(await server.readStatus(payment.id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(await readFunds(payment)).toEqual(REFUNDED_BALANCE);
    expect(provider.sends).toEqual([]);
    await server.expectRejected('No result is expected', 'payouts', 'settle', payment.id);
  });

  it('of a check leaves the payout to the operator', async () => {
    const payment = await createPayout();
    provider.behavior = 'error';
    await workerOver({ returnsUnknown: true }).runDue();
    await cancelJob(payment.id, 'payout.check');
    await server.runJson('payouts', 'settle', payment.id);
    expect(await server.readStatus(payment.id)).toBe('COMPLETED - -');
    expect(await readFunds(payment)).toEqual(PAID_BALANCE);
  });

  it('of a refund to an internal account is rejected, because only this job pays it', async () => {
    const payment = await createPayout();
    await cancelJob(payment.id);
    await server.runJson('payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID');
    const job = (await jobOf(payment.id, 'refund.pay'))?.jobId ?? '';
    await server.expectRejected('Retry the job instead.', 'jobs', 'cancel', job, '--reason', 'x');
    while ((await workerOver().runDue()) > 0);
    expect(await readFunds(payment)).toEqual(REFUNDED_BALANCE);
  });
});

describe('jobs cancel of other transfers', () => {
  const AMOUNT = 40_00;

  it('leaves a debit to the operator', async () => {
    const { person, account } = await server.createPayer();
    const debitedAccount = await createExternalAccount(
      server.app,
      person.id,
      'USD',
      '000',
      server.callOptions,
    );
    const accounts = {
      source: { accountId: debitedAccount.id },
      destination: { accountId: account },
    };
    const body = { ...accounts, amount: AMOUNT };
    const { id } = ok(await server.app.call('POST', '/transfer-in', body, server.callOptions), 201);
    await cancelJob(id, 'incoming.debit');
    expect(await server.readQueue(id)).toMatchObject([{ kind: 'debit', amount: AMOUNT }]);
    await server.runJson('payouts', 'settle', id);
    expect((await readBalances(server.app, account, server.callOptions)).total).toBe(AMOUNT);
    await server.expectRejected('No result is expected', 'payouts', 'settle', id);
  });

  it('leaves the debit of a payment and its refund to the operator', async () => {
    const { person } = await server.createPayer();
    const debitedAccount = await createExternalAccount(
      server.app,
      person.id,
      'USD',
      '000',
      server.callOptions,
    );
    const payee = await server.createPayee(person.id);
    const quote = quoteBody(debitedAccount.id, payee, AMOUNT, { immediatelyExecute: true });
    const createdQuote = ok(
      await server.app.call('POST', '/quotes', quote, server.callOptions),
      201,
    );
    const id = createdQuote.transactionId as string;
    await cancelJob(id, 'funding.send');
    await server.runJson('payouts', 'settle', id);
    await cancelJob(id);
    await server.runJson('payouts', 'fail', id, '--reason', 'ACCOUNT_INVALID');
    expect(await server.readStatus(id)).toBe('FAILED PENDING ACCOUNT_INVALID');
    await cancelJob(id, 'refund.pay');
    expect(await server.readQueue(id)).toMatchObject([{ kind: 'refund', amount: AMOUNT }]);
    await server.runJson('payouts', 'settle', id);
    expect(await server.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(provider.sends).toEqual([]);
  });
});
