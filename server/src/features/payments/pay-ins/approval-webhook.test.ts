// The approval webhook over real HTTP. Each response, and a missing response, has the expected
// effect on the state, the order of events, and the balances.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestApp } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { attemptsOf } from '../../../../test/kit/http/outbox.ts';
import type { Received } from '../../../../test/kit/http/webhook-receiver.ts';
import { COMPLETED, FAILED, openUmaFixture, PENDING } from '../../../../test/kit/payments/uma.ts';

const fixture = openForFile(openUmaFixture);
let app: TestApp;
beforeAll(async () => {
  app = fixture.app;
});
beforeEach(() => fixture.respond({ status: 200 }));

describe('approval webhook', () => {
  it.each([
    [403, '{"code":"NOT_HERE","message":"no"}', 'PAY_REQUEST_FAILED'],
    [422, '{"requiredFields":["TAX_ID"]}', 'MISSING_MANDATORY_PAYEE_DATA'],
    [400, '', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [401, '', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [409, '', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [500, '', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [204, '', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
    [200, 'certainly', 'PAYMENT_APPROVAL_WEBHOOK_ERROR'],
  ])('%s %s fails the payment without a posting', async (status, body, reason) => {
    fixture.respond({ status, body });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    await app.advance(3_600_000);
    const paymentAfter = await fixture.read(payment.id);
    expect(paymentAfter).toMatchObject({ status: 'FAILED', failureReason: reason });
    expect(paymentAfter).not.toHaveProperty('refund');
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, FAILED]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    expect(fixture.requests()).toHaveLength(1);
  });

  it('fails the payment if there is no response within five seconds', async () => {
    fixture.respond({ status: 200, neverResponds: true });
    const { payment } = await fixture.createPendingPayment();
    const timeBefore = performance.now();
    await app.settle();
    expect(performance.now() - timeBefore).toBeGreaterThan(4_500);
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
    });
    const [request] = fixture.requests() as [Received];
    expect(await attemptsOf(app.runtime.db, request.id)).toMatchObject([
      { status: null, result: 'dropped' },
    ]);
  });

  it('requires the requested customer fields in the response', async () => {
    const platform = await app.newPlatform('Korean');
    await fixture.listen(platform);
    const withoutPersonalData = { birthDate: undefined, nationality: undefined };
    const person = await createCustomer(app, { platform }, withoutPersonalData);
    const { supportedCurrencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const [usd] = supportedCurrencies;
    const changedCurrencies = [...supportedCurrencies, { ...usd, currencyCode: 'KRW' }];
    ok(
      await app.call('PATCH', '/config', { supportedCurrencies: changedCurrencies }, { platform }),
      200,
    );
    await app.advance(60_000);
    const receiveBody = { customerId: person.id, receivingCurrencyCode: 'KRW' };
    const receiveAndRead = async (body: string) => {
      fixture.respond({ status: 200, body });
      const { id } = ok(await fixture.receive(receiveBody, platform), 200);
      await app.settle();
      const transactionResponse = await app.call('GET', `/transactions/${id}`, undefined, {
        platform,
      });
      return ok(transactionResponse, 200);
    };
    const info = { BIRTH_DATE: '1990-01-15' };
    const completedPayment = await receiveAndRead(JSON.stringify({ receiverCustomerInfo: info }));
    expect(completedPayment.status).toBe('COMPLETED');
    expect(completedPayment).not.toHaveProperty('requestedReceiverCustomerInfoFields');
    const requestedFields = JSON.parse(fixture.requests()[0]?.body ?? '').data
      .requestedReceiverCustomerInfoFields;
    expect(requestedFields).toEqual([{ name: 'BIRTH_DATE', mandatory: true }]);
    const failedPayment = await receiveAndRead('{}');
    expect(failedPayment).toMatchObject({
      status: 'FAILED',
      failureReason: 'MISSING_MANDATORY_PAYEE_DATA',
    });
    // approvePendingPayment requires the same fields, and accepts a corrected request.
    fixture.respond({ status: 202 });
    const { id } = ok(await fixture.receive(receiveBody, platform), 200);
    await app.settle();
    const approve = (body?: object) => fixture.act(id, 'approve', body, platform);
    const missingResponse = await approve();
    expect([missingResponse.status, missingResponse.body.code]).toEqual([
      400,
      'MISSING_MANDATORY_USER_INFO',
    ]);
    expect(missingResponse.body.details.errors).toMatchObject([
      { field: 'receiverCustomerInfo.BIRTH_DATE' },
    ]);
    expect(ok(await approve({ receiverCustomerInfo: info }), 200).status).toBe('PROCESSING');
  });

  it('fails the payment if the endpoint was removed before the request', async () => {
    const { payment } = await fixture.createPendingPayment();
    const removeEndpointSql = 'update platforms set webhook_endpoint = null where id = $1';
    await app.runtime.db.query(removeEndpointSql, [app.platform.id]);
    await app.settle();
    await fixture.listen();
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR',
    });
  });

  it('is sent again after one crash, but not after two crashes', async () => {
    fixture.respond({ status: 409 });
    const settleAfterAttempts = async (attempts: number) => {
      const { payment } = await fixture.createPendingPayment();
      const setAttemptsSql = `update jobs set attempts = $1 where kind = 'incoming.request-approval'`;
      await app.runtime.db.query(setAttemptsSql, [attempts]);
      await app.settle();
      return fixture.read(payment.id);
    };
    expect(await settleAfterAttempts(1)).toMatchObject({
      failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR',
    });
    expect(fixture.requests()).toHaveLength(1);
    expect(await settleAfterAttempts(2)).toMatchObject({
      failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
    });
    expect(fixture.requests()).toHaveLength(1);
  });
});

describe('approvePendingPayment', () => {
  it('completes a payment after a 202 response', async () => {
    fixture.respond({ status: 202 });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    expect((await fixture.read(payment.id)).status).toBe('PENDING');
    const approvedBody = ok(await fixture.act(payment.id, 'approve'), 200);
    expect(approvedBody).toMatchObject({ id: payment.id, status: 'PROCESSING' });
    await app.advance(60_000);
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, COMPLETED]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 250_00, total: 250_00 });
  });

  it('is rejected after five seconds', async () => {
    fixture.respond({ status: 202 });
    const { payment } = await fixture.createPendingPayment();
    await app.advance(4_999);
    expect((await fixture.read(payment.id)).status).toBe('PENDING');
    await app.advance(1);
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'PAYMENT_APPROVAL_TIMED_OUT',
    });
    for (const action of ['approve', 'reject'] as const) {
      const lateResponse = await fixture.act(payment.id, action);
      expect([lateResponse.status, lateResponse.body.code]).toEqual([
        409,
        'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
      ]);
    }
  });

  it('is accepted before the webhook response', async () => {
    const approveBeforeResponse = async (request: Received) => {
      const { data } = JSON.parse(request.body);
      ok(await fixture.act(data.id, 'approve', {}), 200);
    };
    fixture.respond({ status: 500, beforeResponse: approveBeforeResponse });
    const { payment } = await fixture.createPendingPayment();
    await app.settle();
    expect((await fixture.read(payment.id)).status).toBe('COMPLETED');
  });

  it('accepts one of several concurrent approvals and rejections', async () => {
    fixture.respond({ status: 202 });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    const actions = ['approve', 'reject', 'approve', 'reject', 'approve'] as const;
    const replies = await Promise.all(actions.map((action) => fixture.act(payment.id, action)));
    expect(replies.map((each) => each.status).sort()).toEqual([200, 409, 409, 409, 409]);
    await app.advance(10_000);
    const { status } = await fixture.read(payment.id);
    const { total } = await readBalances(app, account.id);
    expect([status, total]).toEqual(status === 'COMPLETED' ? ['COMPLETED', 250_00] : ['FAILED', 0]);
  });

  it('rejects other transactions and invalid customer fields', async () => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const path = `/sandbox/internal-accounts/${account.id}/fund`;
    ok(await app.call('POST', path, { amount: 1 }), 200);
    const { data } = ok(await app.call('GET', `/transactions?customerId=${person.id}`), 200);
    const reply = await fixture.act(data[0].id, 'approve', {});
    expect(reply.status).toBe(409);
    const invalidResponse = await fixture.act(data[0].id, 'approve', {
      receiverCustomerInfo: 'yes',
    });
    expect([invalidResponse.status, invalidResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
  });
});

describe('rejectPendingPayment', () => {
  it('fails a payment after a 202 response', async () => {
    fixture.respond({ status: 202 });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    const body = { reason: 'not ours' };
    const rejectedBody = ok(await fixture.act(payment.id, 'reject', body), 200);
    expect(rejectedBody).toMatchObject({ status: 'FAILED', failureReason: 'PAY_REQUEST_FAILED' });
    await app.advance(60_000);
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, FAILED]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const invalidResponse = await fixture.act(payment.id, 'reject', { reason: 5 });
    expect([invalidResponse.status, invalidResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
  });
});
