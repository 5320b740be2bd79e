// Operations of a platform on a transaction: cancellation, and confirmation that a receipt was
// delivered.
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

const app = testApp();

const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);
const cancel = (id: string) =>
  app.call('POST', `/transactions/${id}/cancel`, { reason: 'Wrong amount' });

async function startPayout(suffix: string, rail: string, currency = 'USD') {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, currency, suffix);
  const body = quoteBody(account.id, target.id, 100_00, {
    destination: { destinationType: 'ACCOUNT', accountId: target.id, paymentRail: rail },
  });
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  return { account, quote, id: quote.transactionId as string };
}

const execute = async (id: string) => ok(await app.call('POST', `/quotes/${id}/execute`), 200);

const cancelStatusAndCode = async (id: string) => {
  const response = await cancel(id);
  return [response.status, response.body.code];
};

describe('cancelTransaction', () => {
  it('cancels a payment that has not settled', async () => {
    const { account, quote, id } = await startPayout('003', 'ACH');
    await execute(quote.id);
    await app.settle();
    expect(ok(await cancel(id), 200).status).toBe('PROCESSING');
    expect(ok(await cancel(id), 200).status).toBe('PROCESSING');
    await app.settle();
    expect(await getTransaction(id)).toMatchObject({
      status: 'COMPLETED',
      refund: { status: 'COMPLETED', reason: 'USER_CANCELLATION' },
    });
    expect((await readBalances(app, account.id)).balance).toBe(1_000_00);
    const steps = ['PENDING', 'PROCESSING', 'REFUND_PENDING', 'REFUND_COMPLETED', 'COMPLETED'];
    expect(await eventTypes(app, id)).toEqual(steps.map((each) => `OUTGOING_PAYMENT.${each}`));
    await app.advance(10 * 60_000);
    expect((await getTransaction(id)).refund.status).toBe('COMPLETED');
  });

  it('applies the cancellation of an unsubmitted payment after its submission', async () => {
    const { quote, id } = await startPayout('003', 'WIRE');
    await execute(quote.id);
    ok(await cancel(id), 200);
    await app.settle();
    await app.advance(2_000);
    expect((await getTransaction(id)).refund.status).toBe('COMPLETED');
  });

  it('rejects rails and states without support for cancellation', async () => {
    const instantPayment = await startPayout('003', 'RTP');
    await execute(instantPayment.quote.id);
    expect(await cancelStatusAndCode(instantPayment.id)).toEqual([400, 'INVALID_INPUT']);
    const pendingPayment = await startPayout('000', 'ACH');
    expect(await cancelStatusAndCode(pendingPayment.id)).toEqual([
      409,
      'TRANSACTION_NOT_CANCELLABLE',
    ]);
    const pendingInstantPayment = await startPayout('000', 'RTP');
    expect(await cancelStatusAndCode(pendingInstantPayment.id)).toEqual([
      409,
      'TRANSACTION_NOT_CANCELLABLE',
    ]);
    await execute(pendingPayment.quote.id);
    await app.settle();
    expect(await cancelStatusAndCode(pendingPayment.id)).toEqual([
      409,
      'TRANSACTION_NOT_CANCELLABLE',
    ]);
    const unknownId = 'Transaction:00000000-0000-7000-8000-000000000000';
    expect(await cancelStatusAndCode(unknownId)).toEqual([404, 'TRANSACTION_NOT_FOUND']);
  });
});

describe('confirmReceiptDelivery', () => {
  const confirm = (id: string, confirmedAt?: string) =>
    app.call(
      'POST',
      `/transactions/${id}/confirm`,
      confirmedAt && { receiptDeliveryConfirmedAt: confirmedAt },
    );

  it('records the time and can be repeated', async () => {
    const { id } = await startPayout('000', 'ACH');
    const now = new Date(app.effects.now()).toISOString();
    expect(ok(await confirm(id), 200).receiptDeliveryConfirmedAt).toBe(now);
    const earlierTime = '2026-01-01T00:00:00.000Z';
    expect(ok(await confirm(id, earlierTime), 200).receiptDeliveryConfirmedAt).toBe(earlierTime);
    expect((await getTransaction(id)).receiptDeliveryConfirmedAt).toBe(earlierTime);
  });

  it('rejects an invalid or future time', async () => {
    const { id } = await startPayout('000', 'ACH');
    const invalidTimes = ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00+14:00'];
    for (const confirmedAt of ['2099-01-01T00:00:00.000Z', 'yesterday', ...invalidTimes]) {
      const response = await confirm(id, confirmedAt);
      expect([response.status, response.body.details.errors[0].field]).toEqual([
        400,
        'receiptDeliveryConfirmedAt',
      ]);
    }
  });
});
