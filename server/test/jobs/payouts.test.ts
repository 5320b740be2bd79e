// Retries and cancellations of the jobs that send payouts. A provider that has paid without a reply
// pays once, and the funds of a payout leave its account or return to it once.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { payoutJobs } from '../../src/features/payments/payouts/payout-jobs.ts';
import { createWorker, type Worker } from '../../src/runtime/jobs/jobs.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { createMetrics } from '../../src/runtime/observability/metrics.ts';
import { balances, externalAccount, ok, quoteBody } from '../kit/app/fixtures.ts';
import { startProduction } from '../kit/app/production.ts';
import { opened } from '../kit/app/test-app.ts';
import {
  type PaymentProvider,
  railOver,
  startPaymentProvider,
} from '../kit/http/payment-provider.ts';

let provider: PaymentProvider;
const service = opened(startProduction);
beforeEach(async () => {
  provider = await startPaymentProvider();
});
afterEach(() => provider.close());

const HOUR = 3_600_000;

function workerOver(options: Parameters<typeof railOver>[2] = {}): Worker {
  const { runtime, effects } = service.app;
  const rail = railOver(effects, provider, options);
  return createWorker({
    runtime,
    handlers: payoutJobs(() => ({ rail })),
    sweeps: [],
    log: createLog(effects, 'error', () => undefined),
    metrics: createMetrics(),
  });
}

/** A payout whose sending waits as a job. */
async function payout() {
  const from = await service.payer('1000.00');
  await service.app.settle();
  const body = quoteBody(from.account, await service.payee(from.person.id), 100_00);
  const quote = ok(await service.app.call('POST', '/quotes', body, service.as), 201);
  const headers = { 'idempotency-key': quote.id };
  const url = `/quotes/${quote.id}/execute`;
  ok(await service.app.call('POST', url, undefined, { ...service.as, headers }), 200);
  const id = quote.transactionId as string;
  return { ...from, id };
}

/** The job of a kind for a transaction, as the operator sees it. */
async function jobOf(id: string, kind: string) {
  const all: { jobId: string; state: string; about: Record<string, string> }[] = await service.json(
    ...['jobs', 'list', '--kind', kind, '--limit', '1000'],
  );
  return all.find((each) => each.about.transactionId === id);
}

/** Runs the job until it is dead; its id. */
async function deadJob(id: string, worker: Worker): Promise<string> {
  for (let round = 0; round < 30; round++) {
    const job = await jobOf(id, 'payout.send');
    if (job?.state === 'dead') return job.jobId;
    await worker.runDue();
    service.app.effects.set(service.app.effects.now() + HOUR);
  }
  throw new Error('the job did not die');
}

async function running(id: string) {
  for (;;) {
    const job = await jobOf(id, 'payout.send');
    if (job?.state === 'running' && provider.sends.includes(id)) return job.jobId;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const funds = ({ account }: { account: string }) => balances(service.app, account, service.as);
const HELD = { balance: 900_00, total: 1_000_00 };
const GONE = { balance: 900_00, total: 900_00 };
const THERE = { balance: 1_000_00, total: 1_000_00 };

describe('jobs retry', () => {
  it('of a send that died after the provider had paid pays once, from two processes', async () => {
    const payment = await payout();
    provider.manner = 'silent';
    const workers = [workerOver(), workerOver()] as const;
    const job = await deadJob(payment.id, workers[0]);
    expect(await service.status(payment.id)).toBe('PROCESSING - -');
    expect(await funds(payment)).toEqual(HELD);
    provider.manner = 'pays';
    const retries = await Promise.all([
      service.run('jobs', 'retry', job),
      service.run('jobs', 'retry', job),
    ]);
    expect(retries.map(({ code }) => code)).toContain(0);
    await Promise.all(workers.map((each) => each.runDue()));
    expect(await service.status(payment.id)).toBe('COMPLETED - -');
    expect(provider.paid).toEqual([payment.id]);
    expect(new Set(provider.sends)).toEqual(new Set([payment.id]));
    expect(await funds(payment)).toEqual(GONE);
    expect((await service.run('jobs', 'retry', job)).code).toBe(1);
  }, 60_000);

  it('while the job runs is rejected, and so is a cancellation', async () => {
    const payment = await payout();
    provider.manner = 'silent';
    const run = workerOver({ timeoutMs: 3_000 }).runDue();
    const job = await running(payment.id);
    await service.rejected(
      'The job is running. Only failed jobs can be retried.',
      'jobs',
      'retry',
      job,
    );
    await service.rejected('The job is running.', 'jobs', 'cancel', job, '--reason', 'x');
    expect(await funds(payment)).toEqual(HELD);
    await run;
    provider.manner = 'pays';
    expect((await service.run('jobs', 'retry', job)).code).toBe(0);
    await workerOver().runDue();
    expect(provider.paid).toEqual([payment.id]);
    expect(await service.status(payment.id)).toBe('COMPLETED - -');
    expect(await funds(payment)).toEqual(GONE);
  });

  it('of a check requests the status and does not send again', async () => {
    const payment = await payout();
    provider.manner = 'error';
    await workerOver({ isCareful: true }).runDue();
    expect(await service.status(payment.id)).toBe('PROCESSING - -');
    expect(await funds(payment)).toEqual(HELD);
    const check = await jobOf(payment.id, 'payout.check');
    expect(check?.state).toBe('queued');
    service.app.effects.set(service.app.effects.now() + 1_000);
    await workerOver().runDue();
    expect([provider.sends, provider.checks]).toEqual([[payment.id], [payment.id]]);
    expect(await service.status(payment.id)).toBe('COMPLETED - -');
    expect(await funds(payment)).toEqual(GONE);
  });
});

const cancelled = async (id: string, kind = 'payout.send') => {
  const job = await jobOf(id, kind);
  await service.json(
    'jobs',
    'cancel',
    job?.jobId ?? '',
    '--reason',
    'The bank answers by telephone',
  );
};

describe('jobs cancel', () => {
  it('of a dead send leaves the payout to the operator, who settles it once', async () => {
    const payment = await payout();
    provider.manner = 'silent';
    await deadJob(payment.id, workerOver());
    await cancelled(payment.id);
    expect(await funds(payment)).toEqual(HELD);
    expect(await service.status(payment.id)).toBe('PROCESSING - -');
    expect(await service.queue(payment.id)).toMatchObject([{ kind: 'payout', amount: 91_08 }]);
    await service.json('payouts', 'settle', payment.id, '--reference', 'BANK-1');
    expect(await service.status(payment.id)).toBe('COMPLETED - -');
    expect(await funds(payment)).toEqual(GONE);
    const fail = ['payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID'];
    await service.rejected('No result is expected', ...fail);
    await workerOver().runDue();
    expect(provider.paid).toEqual([payment.id]);
  }, 60_000);

  it('of a send that never ran permits the operator to fail the payout, which is refunded once', async () => {
    const payment = await payout();
    await cancelled(payment.id);
    expect(await funds(payment)).toEqual(HELD);
    await service.json('payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID');
    while ((await workerOver().runDue()) > 0);
    expect(await service.status(payment.id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(await funds(payment)).toEqual(THERE);
    expect(provider.sends).toEqual([]);
    await service.rejected('No result is expected', 'payouts', 'settle', payment.id);
  });

  it('of a check leaves the payout to the operator', async () => {
    const payment = await payout();
    provider.manner = 'error';
    await workerOver({ isCareful: true }).runDue();
    await cancelled(payment.id, 'payout.check');
    await service.json('payouts', 'settle', payment.id);
    expect(await service.status(payment.id)).toBe('COMPLETED - -');
    expect(await funds(payment)).toEqual(GONE);
  });

  it('of a refund to an account here is rejected, since nothing else pays it', async () => {
    const payment = await payout();
    await cancelled(payment.id);
    await service.json('payouts', 'fail', payment.id, '--reason', 'ACCOUNT_INVALID');
    const job = (await jobOf(payment.id, 'refund.pay'))?.jobId ?? '';
    await service.rejected('Retry the job instead.', 'jobs', 'cancel', job, '--reason', 'x');
    while ((await workerOver().runDue()) > 0);
    expect(await funds(payment)).toEqual(THERE);
  });
});

describe('jobs cancel of other transfers', () => {
  const USD = 40_00;

  it('leaves a debit to the operator', async () => {
    const { person, account } = await service.payer();
    const from = await externalAccount(service.app, person.id, 'USD', '000', service.as);
    const ends = { source: { accountId: from.id }, destination: { accountId: account } };
    const body = { ...ends, amount: USD };
    const { id } = ok(await service.app.call('POST', '/transfer-in', body, service.as), 201);
    await cancelled(id, 'incoming.debit');
    expect(await service.queue(id)).toMatchObject([{ kind: 'debit', amount: USD }]);
    await service.json('payouts', 'settle', id);
    expect((await balances(service.app, account, service.as)).total).toBe(USD);
    await service.rejected('No result is expected', 'payouts', 'settle', id);
  });

  it('leaves the debit of a payment to the operator, and the refund of it', async () => {
    const { person } = await service.payer();
    const from = await externalAccount(service.app, person.id, 'USD', '000', service.as);
    const payee = await service.payee(person.id);
    const quote = quoteBody(from.id, payee, USD, { immediatelyExecute: true });
    const createdQuote = ok(await service.app.call('POST', '/quotes', quote, service.as), 201);
    const id = createdQuote.transactionId as string;
    await cancelled(id, 'funding.send');
    await service.json('payouts', 'settle', id);
    await cancelled(id);
    await service.json('payouts', 'fail', id, '--reason', 'ACCOUNT_INVALID');
    expect(await service.status(id)).toBe('FAILED PENDING ACCOUNT_INVALID');
    await cancelled(id, 'refund.pay');
    expect(await service.queue(id)).toMatchObject([{ kind: 'refund', amount: USD }]);
    await service.json('payouts', 'settle', id);
    expect(await service.status(id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(provider.sends).toEqual([]);
  });
});
