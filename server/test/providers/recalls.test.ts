// Requests for the return of settled payouts. The decision is recorded. Only the return of funds is
// posted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, rejects, write } = operatorService();
const BANK = 'acme-bank';
const RECALL_PATH = '/transfers/recall';
let adapter: Adapter;

const offerRecalls = (recall: boolean) => {
  const transfers = [{ kinds: ['payout'], rails: ['SEPA', 'SEPA_INSTANT'], currencies: ['EUR'] }];
  adapter.replies['/capabilities'] = () => ({ body: { protocol: '1', transfers, recall } });
  return write('POST', `/providers/${BANK}/check`);
};

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await addProvider(write, adapter, BANK);
  await offerRecalls(true);
  await write('POST', '/provider-routes', {
    ...{ providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' },
  });
  reply({ state: 'requested', checkAfterSeconds: 86_400 });
});
afterAll(() => adapter.close());

function reply(body: object, status = 200) {
  adapter.replies[RECALL_PATH] = () => ({ status, body });
}

const countCalls = () => adapter.calls.filter((call) => call === RECALL_PATH).length;

const reportState = (id: string, transfer: object) =>
  adapter.send(BANK, { type: 'transfer.updated', transferId: id, transfer });

async function createSettledPayment() {
  const payment = await service.createPayment();
  await reportState(payment.id, { state: 'settled', reference: `BANK-${payment.id.slice(-6)}` });
  return payment;
}

async function recall(id: string, cause = 'DUPLICATE') {
  const recallReply = await write('POST', `/payouts/${id}/recall`, { cause });
  await service.app.settle();
  return recallReply;
}

const readRecall = async (id: string) => (await read(`/payments/${id}`)).recall;

const decide = (id: string, decision: object, fields: object = {}) =>
  adapter.send(BANK, { type: 'transfer.recall', transferId: id, recall: decision, ...fields });

const countPostings = async (id: string) => (await read(`/payments/${id}`)).postings.length;

describe('recallTransfer', () => {
  it('requests the return, without a posting until the funds are returned', async () => {
    const { id, account } = await createSettledPayment();
    const readBalance = async () =>
      (
        await service.app.call(
          'GET',
          `/internal-accounts/${account}`,
          undefined,
          service.callOptions,
        )
      ).body.balance.amount;
    const [balanceBefore, postingCount] = [await readBalance(), await countPostings(id)];
    expect(await recall(id)).toMatchObject({
      ...{ transactionId: id, providerId: BANK, cause: 'DUPLICATE', state: 'REQUESTED' },
    });
    const acceptedFields = { id: 'accepted-1', occurredAt: '2026-01-06T09:30:00Z' };
    expect((await decide(id, { state: 'accepted' }, acceptedFields)).body).toEqual({
      result: 'APPLIED',
    });
    expect((await decide(id, { state: 'accepted' }, acceptedFields)).body.result).toBe('DUPLICATE');
    expect((await decide(id, { state: 'accepted' })).body).toEqual({ result: 'IGNORED' });
    expect(await readRecall(id)).toMatchObject({
      state: 'ACCEPTED',
      decidedAt: expect.any(String),
    });
    expect([await readBalance(), await countPostings(id)]).toEqual([balanceBefore, postingCount]);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    const contradiction = await decide(id, { state: 'rejected', reason: 'TOO_LATE' });
    expect(contradiction).toMatchObject({
      status: 409,
      body: { message: 'The reported decision is rejected, but the recall is ACCEPTED.' },
    });
    await reportState(id, { state: 'returned', reason: 'PROVIDER_REJECTED' });
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED QUOTE_EXECUTION_FAILED');
    expect(await readBalance()).toBeGreaterThan(balanceBefore);
  });

  it('is repeated until the provider responds, and polled until the provider decides', async () => {
    const { id } = await createSettledPayment();
    reply({}, 503);
    const countBefore = countCalls();
    await recall(id, 'FRAUD');
    await service.app.advance(3_600_000);
    expect(countCalls()).toBeGreaterThan(countBefore + 1);
    expect(await readRecall(id)).toMatchObject({ state: 'REQUESTED', decidedAt: null });
    reply({ state: 'requested', checkAfterSeconds: 86_400 });
    await service.app.advance(DAY);
    reply({ state: 'rejected', reason: 'BENEFICIARY_REFUSED' });
    await service.app.advance(2 * DAY);
    expect(await readRecall(id)).toMatchObject({
      ...{ state: 'REJECTED', cause: 'FRAUD', rejectionReason: 'BENEFICIARY_REFUSED' },
    });
    const countAfter = countCalls();
    await service.app.advance(3 * DAY);
    expect(countCalls()).toBe(countAfter);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    // A reported return is posted regardless of an earlier decision.
    await reportState(id, { state: 'returned', reason: 'ACCOUNT_INVALID' });
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    reply({ state: 'requested', checkAfterSeconds: 86_400 });
  });

  it('accepts a decision before the reply to the request', async () => {
    const { id } = await createSettledPayment();
    reply({}, 503);
    await recall(id);
    await decide(id, { state: 'rejected', reason: 'ACCOUNT_CLOSED' });
    reply({ state: 'accepted' });
    await service.app.advance(DAY);
    expect(await readRecall(id)).toMatchObject({ state: 'REJECTED' });
  });

  it('is possible once, for a settled payout of a provider with recalls', async () => {
    const pendingPayment = await service.createPayment();
    const path = (id: string) => `/payouts/${id}/recall`;
    const body = { cause: 'CUSTOMER_REQUEST' };
    const unsettledRejection = await rejects(409, 'CONFLICT', 'POST', path(pendingPayment.id), {
      body,
    });
    expect(unsettledRejection.message).toBe(
      'Only a settled payout can be recalled. This payout is PROCESSING.',
    );
    await reportState(pendingPayment.id, { state: 'settled', reference: 'BANK-X' });
    expect((await decide(pendingPayment.id, { state: 'accepted' })).status).toBe(409);
    await recall(pendingPayment.id);
    await rejects(409, 'CONFLICT', 'POST', path(pendingPayment.id), { body });
    const otherPayment = await createSettledPayment();
    await offerRecalls(false);
    const rejection = await rejects(409, 'CONFLICT', 'POST', path(otherPayment.id), { body });
    expect(rejection.message).toContain('No provider that supports recalls sent this payout.');
    await offerRecalls(true);
    const recallOutput = await service.runJson(
      'payouts',
      'recall',
      otherPayment.id,
      '--cause',
      'DUPLICATE',
    );
    expect(recallOutput).toMatchObject({ transactionId: otherPayment.id, state: 'REQUESTED' });
  });
});
