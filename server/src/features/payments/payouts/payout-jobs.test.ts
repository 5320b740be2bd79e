// The jobs of a payout with a scripted rail: the rail payload, and the effect of each result. Some of the
// results are never returned by the sandbox bank.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import type { Job } from '../../../runtime/jobs/jobs.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { paymentReferenceOf } from '../suspense/index.ts';
import { payoutJobs } from './payout-jobs.ts';

const app = testApp();

async function createPayout(overrides: object = {}) {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, 'EUR');
  const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true, ...overrides });
  const { transactionId } = ok(await app.call('POST', '/quotes', body), 201);
  return { account, target, id: transactionId as string };
}

/** Runs the jobs of the payment in order against a rail that returns these results one by one. */
async function runPaymentJobs(id: string, responses: Progress[]) {
  const requests: { method: 'send' | 'check'; instruction: RailInstruction }[] = [];
  const respond = (method: 'send' | 'check') => async (instruction: RailInstruction) => {
    requests.push({ method, instruction });
    const nextProgress = responses[requests.length - 1];
    if (!nextProgress) throw new Error('no further result');
    return nextProgress;
  };
  const rail = { supportsPayout: () => true, send: respond('send'), check: respond('check') };
  const handlers = new Map(payoutJobs(() => ({ rail })).map((each) => [each.kind, each]));
  for (let round = 0; round < 20; round++) {
    const [job] = (await app.runtime.db.query(
      "select * from jobs where input->>'transactionId' = $1",
      [id],
    )) as unknown as Job[];
    if (!job) return requests;
    app.effects.set(Math.max(app.effects.now(), Number(job.due_at)));
    const result = await handlers.get(job.kind)?.run(app.runtime, job);
    if (result) await operate(app.runtime, result.caller, result.stage);
    await app.runtime.db.query('delete from jobs where id = $1', [job.id]);
  }
  throw new Error('The payment has jobs after 20 rounds.');
}

const statusOf = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200).status;
const paymentEvents = (...names: string[]) => names.map((name) => `OUTGOING_PAYMENT.${name}`);

describe('rail', () => {
  it('receives the complete rail payload', async () => {
    const { id, target } = await createPayout({
      remittanceInformation: 'INV 42',
      purposeOfPayment: 'GOODS_OR_SERVICES',
    });
    const startedAt = app.effects.now();
    const [request] = await runPaymentJobs(id, [{ state: 'settled', reference: 'r' }]);
    expect(request?.method).toBe('send');
    expect(request?.instruction).toEqual({
      id,
      platformId: app.platform.id,
      kind: 'payout',
      origin: 'quote',
      reference: paymentReferenceOf(id),
      rail: 'SEPA_INSTANT',
      currency: 'EUR',
      amount: 91_54n,
      account: expect.objectContaining({ iban: target.accountInfo.iban }),
      beneficiaryName: 'Grace Hopper',
      remittanceInformation: 'INV 42',
      purposeOfPayment: 'GOODS_OR_SERVICES',
      sentAt: startedAt,
    });
  });

  it('is polled after an unknown result, and the payment continues', async () => {
    const { id, account } = await createPayout();
    const unknownProgress: Progress = { state: 'unknown', checkAfterMs: 5_000 };
    const startTime = app.effects.now();
    const requests = await runPaymentJobs(id, [
      unknownProgress,
      unknownProgress,
      unknownProgress,
      { state: 'settled', reference: 'r' },
    ]);
    expect(requests.map((each) => each.method)).toEqual(['send', 'check', 'check', 'check']);
    expect(new Set(requests.map((each) => each.instruction.sentAt))).toEqual(new Set([startTime]));
    expect(new Set(requests.map((each) => each.instruction.id))).toEqual(new Set([id]));
    expect(app.effects.now() - startTime).toBe(15_000);
    expect(await eventTypes(app, id)).toEqual(paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'));
    expect((await readBalances(app, account.id)).total).toBe(900_00);
  });

  it('can return a payout without an earlier settlement', async () => {
    const { id, account } = await createPayout();
    await runPaymentJobs(id, [
      { state: 'accepted', checkAfterMs: 1 },
      { state: 'returned', reason: 'PAYOUT_RETURNED' },
    ]);
    expect(await eventTypes(app, id)).toEqual(
      paymentEvents(
        'PENDING',
        'PROCESSING',
        'COMPLETED',
        'FAILED',
        'REFUND_PENDING',
        'REFUND_COMPLETED',
      ),
    );
    expect((await readBalances(app, account.id)).total).toBe(1_000_00);
  });

  it('can cancel or reject immediately, before submission', async () => {
    const cancelledPayout = await createPayout();
    await runPaymentJobs(cancelledPayout.id, [{ state: 'cancelled' }]);
    expect(await statusOf(cancelledPayout.id)).toBe('COMPLETED');
    expect((await readBalances(app, cancelledPayout.account.id)).total).toBe(1_000_00);
    const blockedPayout = await createPayout();
    const failedProgress: Progress = {
      state: 'failed',
      reason: 'COMPLIANCE_REJECTED',
      refundable: false,
    };
    await runPaymentJobs(blockedPayout.id, [failedProgress]);
    expect(await readBalances(app, blockedPayout.account.id)).toEqual({
      balance: 900_00,
      total: 900_00,
    });
    const [row] = await app.runtime.db.query(
      `select sum(amount)::text as suspense from ledger_transfers
        where transaction_id = $1 and credit like 'system:sandbox:suspense:%'`,
      [blockedPayout.id],
    );
    expect(row?.suspense).toBe('10000');
  });

  it('posts only once for repeated and contradictory results', async () => {
    const { id, account } = await createPayout();
    await runPaymentJobs(id, [
      { state: 'accepted', checkAfterMs: 1 },
      { state: 'accepted', checkAfterMs: 1 },
      { state: 'settled', reference: 'r', checkAfterMs: 1 },
      { state: 'accepted', checkAfterMs: 1 },
      { state: 'settled', reference: 'r', checkAfterMs: 1 },
      { state: 'cancelled' },
    ]);
    expect(await eventTypes(app, id)).toEqual(paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'));
    expect((await readBalances(app, account.id)).total).toBe(900_00);
  });
});

describe('rail that throws', () => {
  it('leaves the payment unchanged until a retry of the job', async () => {
    const { id } = await createPayout();
    await expect(runPaymentJobs(id, [])).rejects.toThrow('no further result');
    expect(await statusOf(id)).toBe('PROCESSING');
    await app.settle();
    expect(await statusOf(id)).toBe('COMPLETED');
  });
});
