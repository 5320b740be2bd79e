// Payments from UMA addresses to customers: admission, the credited account, and the return of funds that
// cannot be credited.
import { createPublicKey, verify } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestApp, TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { attemptsOf } from '../../../../test/kit/http/outbox.ts';
import type { Received } from '../../../../test/kit/http/webhook-receiver.ts';
import {
  COMPLETED,
  FAILED,
  openUmaFixture,
  PENDING,
  REFUND_EVENTS,
  SENDER,
} from '../../../../test/kit/payments/uma.ts';
import type { Progress } from '../../../connectors/ports/index.ts';
import { sandboxRail } from '../../../connectors/sandbox/payments/rail.ts';
import { transitionInternalAccount } from '../../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { readCurrent } from '../payouts/payout-jobs.ts';
import type { WaitKind } from '../suspense/rail-results.ts';
import { asIncoming } from '../transactions/rows.ts';
import { applyIncomingStatus } from './index.ts';

const fixture = openForFile(openUmaFixture);
let app: TestApp;
beforeAll(async () => {
  app = fixture.app;
});
beforeEach(() => fixture.respond({ status: 200 }));

describe('sandboxReceive', () => {
  it('returns a pending payment and completes it after approval by the platform', async () => {
    const { person, account, payment } = await fixture.createPendingPayment();
    expect(payment).toMatchObject({
      type: 'INCOMING',
      direction: 'CREDIT',
      status: 'PENDING',
      customerId: person.id,
      source: { sourceType: 'UMA_ADDRESS', umaAddress: SENDER },
      destination: { destinationType: 'ACCOUNT', accountId: account.id, currency: 'USD' },
      receivedAmount: { amount: 250_00 },
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.settle();
    expect(await fixture.read(payment.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, COMPLETED]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 250_00, total: 250_00 });
    const balanceEvents = (await app.events()).filter((each) => each.subject === account.id);
    expect(balanceEvents.map((each) => [each.type, each.balance])).toEqual([
      ['INTERNAL_ACCOUNT.BALANCE_UPDATED', 250_00n],
    ]);
  });

  it('sends one signed webhook and stores its response', async () => {
    fixture.respond({ status: 200, body: '{"message":"welcome"}' });
    const { payment } = await fixture.createPendingPayment();
    await app.settle();
    await app.advance(60_000);
    expect(fixture.requests()).toHaveLength(1);
    const [request] = fixture.requests() as [Received];
    const event = JSON.parse(request.body);
    expect(event.data).toMatchObject({ id: payment.id, status: 'PENDING' });
    expect(event.data.requestedReceiverCustomerInfoFields).toEqual([]);
    const key = createPublicKey(app.keys.sandbox.publicKeyPem);
    const signature = Buffer.from(request.headers['x-service-signature'] as string, 'base64');
    expect(verify('sha256', Buffer.from(request.body), key, signature)).toBe(true);
    const attempts = await attemptsOf(app.runtime.db, request.id);
    expect(attempts).toMatchObject([
      { attempt: 1, status: 200, result: 'delivered', response: '{"message":"welcome"}' },
    ]);
    const dueSql = 'select due_at from webhook_queue where event_id = $1';
    expect(await app.runtime.db.query(dueSql, [request.id])).toEqual([]);
  });

  it('finds the customer by a UMA address in upper case', async () => {
    const person = await createCustomer(app);
    const receiverUmaAddress = person.umaAddress.toUpperCase();
    const payment = ok(await fixture.receive({ receiverUmaAddress, customerId: person.id }), 200);
    expect(payment.customerId).toBe(person.id);
  });

  it('returns the required sender fields and rejects a sender without them', async () => {
    const platform = await app.newPlatform('Sender fields');
    await fixture.listen(platform);
    const person = await createCustomer(app, { platform });
    const requireSenderFields = async (...names: string[]) => {
      const { supportedCurrencies } = ok(
        await app.call('GET', '/config', undefined, { platform }),
        200,
      );
      const requiredCounterpartyFields = names.map((name) => ({ name, mandatory: true }));
      const changedCurrencies = supportedCurrencies.map((currency: object) => ({
        ...currency,
        requiredCounterpartyFields,
      }));
      ok(
        await app.call(
          'PATCH',
          '/config',
          { supportedCurrencies: changedCurrencies },
          { platform },
        ),
        200,
      );
    };
    await requireSenderFields('FULL_NAME', 'NATIONALITY');
    const payment = ok(await fixture.receive({ customerId: person.id }, platform), 200);
    expect(payment.counterpartyInformation).toEqual({
      FULL_NAME: 'Sandbox Sender',
      NATIONALITY: 'US',
    });
    await requireSenderFields('TAX_ID', 'REGISTRATION_NUMBER');
    const rejectedResponse = await fixture.receive({ customerId: person.id }, platform);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([
      400,
      'SENDER_NOT_ACCEPTED',
    ]);
    expect(rejectedResponse.body.details.requiredFields).toEqual(['TAX_ID', 'REGISTRATION_NUMBER']);
  });

  it('rejects invalid requests', async () => {
    const person = await createCustomer(app);
    const expectError = async (
      body: object,
      status: number,
      code: string,
      platform?: TestPlatform,
    ) => {
      const reply = await fixture.receive({ customerId: person.id, ...body }, platform);
      expect([reply.status, reply.body.code]).toEqual([status, code]);
      return reply.body;
    };
    const unknownAddress = '$non.existent.usd@sandbox.uma.money';
    await expectError({ senderUmaAddress: unknownAddress }, 404, 'UMA_NOT_FOUND');
    await expectError({ senderUmaAddress: '$a@elsewhere.example' }, 404, 'UMA_NOT_FOUND');
    await expectError({ senderUmaAddress: 'invalid' }, 400, 'INVALID_UMA_ADDRESS');
    const rejectedAddress = '$error.cert-chain-expired@sandbox.uma.money';
    await expectError({ senderUmaAddress: rejectedAddress }, 400, 'SENDER_NOT_ACCEPTED');
    const blockedAddress = '$success.usd@blockvale.example';
    await expectError({ senderUmaAddress: blockedAddress }, 403, 'COUNTERPARTY_NOT_ALLOWED');
    await expectError({ receiverUmaAddress: '$unknown@main.example' }, 404, 'UMA_NOT_FOUND');
    const otherCustomer = await createCustomer(app);
    await expectError({ receiverUmaAddress: otherCustomer.umaAddress }, 404, 'UMA_NOT_FOUND');
    const foreignCustomer = await createCustomer(app, { platform: app.other });
    await expectError({ customerId: foreignCustomer.id }, 404, 'CUSTOMER_NOT_FOUND');
    const { umaAddress } = foreignCustomer;
    const bodyByAddress = { customerId: undefined, receiverUmaAddress: umaAddress };
    await expectError(bodyByAddress, 404, 'UMA_NOT_FOUND');
    await expectError({ receivingCurrencyCode: 'JPY' }, 400, 'INVALID_CURRENCY');
    await expectError({ receivingCurrencyCode: 'nothing' }, 400, 'INVALID_CURRENCY');
    const errorBody = await expectError(
      { customerId: undefined, receivingCurrencyAmount: 0 },
      400,
      'INVALID_INPUT',
    );
    expect(errorBody.details.errors.map((each: { field: string }) => each.field).sort()).toEqual([
      'receiverUmaAddress',
      'receivingCurrencyAmount',
    ]);
    await expectError(
      { customerId: foreignCustomer.id },
      400,
      'WEBHOOK_ENDPOINT_NOT_SET',
      app.other,
    );
    const unverifiedCustomer = await createCustomer(app, { platform: app.unregulated });
    await fixture.listen(app.unregulated);
    await expectError(
      { customerId: unverifiedCustomer.id },
      403,
      'USER_NOT_READY',
      app.unregulated,
    );
    ok(await app.call('DELETE', `/customers/${otherCustomer.id}`), 200);
    await expectError({ customerId: otherCustomer.id }, 410, 'CUSTOMER_DELETED');
    await expectError({}, 403, 'FORBIDDEN', app.production);
  });

  it('enforces the limits and transaction types of the platform', async () => {
    const platform = await app.newPlatform('Narrow');
    await fixture.listen(platform);
    const person = await createCustomer(app, { platform });
    const { supportedCurrencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const change = (overrides: object) =>
      app.call(
        'PATCH',
        '/config',
        {
          supportedCurrencies: supportedCurrencies.map((currency: object) => ({
            ...currency,
            ...overrides,
          })),
        },
        { platform },
      );
    ok(await change({ minAmount: 100, maxAmount: 200 }), 200);
    for (const receivingCurrencyAmount of [99, 201]) {
      const reply = await fixture.receive(
        { customerId: person.id, receivingCurrencyAmount },
        platform,
      );
      expect([reply.status, reply.body.code]).toEqual([400, 'AMOUNT_OUT_OF_RANGE']);
    }
    ok(await change({ enabledTransactionTypes: ['OUTGOING'] }), 200);
    const reply = await fixture.receive({ customerId: person.id }, platform);
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_CURRENCY']);
  });

  it('runs once per idempotency key', async () => {
    const person = await createCustomer(app);
    const body = {
      senderUmaAddress: SENDER,
      customerId: person.id,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 5,
    };
    const headers = { 'idempotency-key': 'uma-once' };
    const send = (overrides: object = {}) =>
      app.call('POST', '/sandbox/uma/receive', { ...body, ...overrides }, { headers });
    const [firstBody, secondBody] = [ok(await send(), 200), ok(await send(), 200)];
    expect(secondBody.id).toBe(firstBody.id);
    await app.settle();
    const account = await findInternalAccount(app, person.id, 'USD');
    expect((await readBalances(app, account.id)).total).toBe(5);
    const otherResponse = await send({ receivingCurrencyAmount: 6 });
    expect([otherResponse.status, otherResponse.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
  });
});

describe('funds of an approved payment', () => {
  it('arrive with the delay of the sender', async () => {
    const { account, payment } = await fixture.createPendingPayment({
      senderUmaAddress: '$pending.long.usd@sandbox.uma.money',
    });
    await app.advance(6 * 60_000 - 1);
    expect((await fixture.read(payment.id)).status).toBe('PROCESSING');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.advance(1);
    expect((await fixture.read(payment.id)).status).toBe('COMPLETED');
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, COMPLETED]);
  });

  it('are returned after screening', async () => {
    const { account, payment } = await fixture.createPendingPayment({
      senderUmaAddress: '$fail.compliance.usd@sandbox.uma.money',
    });
    await app.advance(60_000);
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COMPLIANCE_REJECTED',
      refund: { status: 'COMPLETED', reason: 'TRANSACTION_FAILED' },
    });
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, FAILED, ...REFUND_EVENTS]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await expectBalancedBooks(app);
  });

  const transition = (id: string, event: 'freeze' | 'close') =>
    app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      if (row) transitionInternalAccount(ctx, row, event);
    });

  it('are held if the account was frozen before they arrived', async () => {
    fixture.respond({ status: 202 });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    await transition(account.id, 'freeze');
    ok(await fixture.act(payment.id, 'approve'), 200);
    await app.settle();
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'PROCESSING',
      pendingReason: 'COMPLIANCE_REVIEW',
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 250_00 });
  });

  it('are returned if the account was closed before they arrived', async () => {
    fixture.respond({ status: 202 });
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    await transition(account.id, 'close');
    ok(await fixture.act(payment.id, 'approve'), 200);
    await app.settle();
    expect(await fixture.read(payment.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: { status: 'COMPLETED' },
    });
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, FAILED, ...REFUND_EVENTS]);
  });
});

describe('notification about an approved payment', () => {
  const notify = (id: string, kind: WaitKind, progress: Progress) =>
    app.operate(async (ctx) => {
      const row = await readCurrent(ctx, id, asIncoming);
      await applyIncomingStatus(ctx, row, kind, progress);
    });

  it('reverses the credit if the funds are returned', async () => {
    const { account, payment } = await fixture.createPendingPayment();
    await app.settle();
    await notify(payment.id, 'payout', { state: 'returned', reason: 'PAYOUT_RETURNED' });
    expect((await fixture.read(payment.id)).status).toBe('COMPLETED');
    await notify(payment.id, 'debit', { state: 'returned', reason: 'PAYOUT_RETURNED' });
    expect((await fixture.read(payment.id)).status).toBe('FAILED');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await expectBalancedBooks(app);
  });
});

describe('default UMA deposit account', () => {
  async function receiveWithDefaultAccount(suffix: string, currency = 'USD') {
    const person = await createCustomer(app);
    const { accountInfo } = await createExternalAccount(app, person.id, currency, suffix);
    const { body: oldAccounts } = await app.call(
      'GET',
      `/customers/external-accounts?customerId=${person.id}`,
    );
    ok(await app.call('DELETE', `/customers/external-accounts/${oldAccounts.data[0].id}`), 204);
    const { paymentRails: _, ...info } = accountInfo;
    const body = {
      customerId: person.id,
      currency,
      defaultUmaDepositAccount: true,
      accountInfo: info,
    };
    const payeeAccount = ok(await app.call('POST', '/customers/external-accounts', body), 201);
    const account = await findInternalAccount(app, person.id, 'USD');
    const payment = ok(await fixture.receive({ customerId: person.id }), 200);
    return { externalAccount: payeeAccount, account, payment };
  }

  it('is paid over a rail', async () => {
    const { externalAccount, account, payment } = await receiveWithDefaultAccount('000');
    expect(payment.destination.accountId).toBe(externalAccount.id);
    await app.settle();
    expect((await fixture.read(payment.id)).status).toBe('COMPLETED');
    expect(await eventTypes(app, payment.id)).toEqual([PENDING, COMPLETED]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const steps = await app.runtime.db.query(
      'select step from ledger_transfers where transaction_id = $1 order by step',
      [payment.id],
    );
    expect(steps.map((each) => each.step)).toEqual(['fund', 'pay', 'settle']);
  });

  it.each(['002', '003', '004', '005'])(
    'returns the funds if the payout fails for the suffix %s',
    async (suffix) => {
      const { payment } = await receiveWithDefaultAccount(suffix);
      await app.advance(60_000);
      expect(await fixture.read(payment.id)).toMatchObject({
        status: 'FAILED',
        failureReason: 'OFFRAMP_FAILED',
        refund: { status: 'COMPLETED' },
      });
      expect(await eventTypes(app, payment.id)).toEqual([PENDING, FAILED, ...REFUND_EVENTS]);
      await expectBalancedBooks(app);
    },
  );

  const notify = (id: string, kind: WaitKind, progress: Progress) =>
    app.operate(async (ctx) => {
      const row = await readCurrent(ctx, id, asIncoming);
      await applyIncomingStatus(ctx, row, kind, progress);
    });

  /** An approved payment whose funds have arrived and whose payout has not started. */
  async function receiveApprovedPayment(suffix: string) {
    fixture.respond({ status: 202 });
    const { account, payment } = await receiveWithDefaultAccount(suffix);
    await app.settle();
    ok(await fixture.act(payment.id, 'approve'), 200);
    await notify(payment.id, 'debit', { state: 'settled', reference: 'x' });
    return { account, id: payment.id as string };
  }

  it.each(['failed', 'settled', 'returned'] as const)(
    'refunds once if the payout fails and is then %s',
    async (state) => {
      const { id } = await receiveApprovedPayment('005');
      await notify(id, 'payout', { state: 'failed', reason: 'ACCOUNT_INVALID' });
      await notify(id, 'payout', { state, reference: 'x', reason: 'ACCOUNT_INVALID' });
      expect((await fixture.read(id)).refund.status).toBe('PENDING');
      await app.advance(60_000);
      expect((await fixture.read(id)).refund.status).toBe('COMPLETED');
      expect(await eventTypes(app, id)).toEqual([PENDING, FAILED, ...REFUND_EVENTS]);
    },
  );

  it('is not paid after a failure notification', async () => {
    const { id } = await receiveApprovedPayment('000');
    await notify(id, 'payout', { state: 'failed', reason: 'ACCOUNT_INVALID' });
    const send = vi.spyOn(sandboxRail, 'send');
    await app.settle();
    const sentIds = send.mock.calls.map(([instruction]) => instruction.id);
    send.mockRestore();
    expect(sentIds.filter((each) => each.startsWith(id))).toEqual([`${id}/refund`]);
  });

  it('is skipped if it holds another currency or is not active', async () => {
    const { account, payment } = await receiveWithDefaultAccount('000', 'EUR');
    expect(payment.destination.accountId).toBe(account.id);
    const { externalAccount, account: ownAccount } = await receiveWithDefaultAccount('000');
    const disableSql = `update external_accounts set status = 'INACTIVE' where id = $1`;
    await app.runtime.db.query(disableSql, [externalAccount.id]);
    const secondPayment = ok(await fixture.receive({ customerId: ownAccount.customerId }), 200);
    expect(secondPayment.destination.accountId).toBe(ownAccount.id);
  });
});
