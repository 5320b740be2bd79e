// Manual payouts and debits of a production platform: list, settlement, failure, later return, and
// recall.
import { createVerify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { DAY, startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { applyIncomingStatus } from '../../features/payments/pay-ins/index.ts';
import { awaitRailResult } from '../../features/payments/suspense/rail-results.ts';
import { asIncoming } from '../../features/payments/transactions/rows.ts';
import { type TransactionRow, transactions } from '../../features/payments/transactions/store.ts';
import type { HttpRequest } from '../../kernel/effects.ts';
import type { Ctx } from '../../runtime/operation/context.ts';

const service = openForFile(startProduction);

describe('a payout', () => {
  it('is funded by a deposit, listed, settled, and notified with the production key', async () => {
    const { id, account, quote } = await service.createPayment();
    // 100.00 USD less 0.5 % at 0.9154.
    expect(quote.totalReceivingAmount).toBe(91_08);
    expect(await service.readStatus(id)).toBe('PROCESSING - -');
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 900_00,
      total: 900_00,
    });
    expect(await service.readQueue(id)).toMatchObject([
      {
        ...{ transactionId: id, platformId: service.platform.id, kind: 'payout', currency: 'EUR' },
        ...{ amount: 91_08, readable: '91.08', beneficiary: 'Grace Hopper' },
        ...{ accountType: 'EUR_ACCOUNT', account: { iban: 'DE89370400440532013000' } },
        ...{ rail: 'SEPA_INSTANT', cancelRequestedAt: null, since: '2026-01-05T09:00:00.000Z' },
      },
    ]);
    const output = (await service.run('payouts', 'list')).out;
    expect(output).toMatch(/^SINCE +TRANSACTION +KIND +AMOUNT +CURRENCY +RAIL/);
    expect(output).toContain('iban=DE89370400440532013000');
    const settledOutput = await service.runJson(
      'payouts',
      'settle',
      id,
      '--reference',
      'SEPA-0001',
    );
    expect(settledOutput).toMatchObject({ transactionId: id, status: 'COMPLETED' });
    expect(await service.readQueue(id)).toEqual([]);
    await service.expectRejected('No result is expected', 'payouts', 'settle', id);
    await service.expectRejected(
      'No result is expected',
      'payouts',
      'fail',
      id,
      '--reason',
      'ACCOUNT_INVALID',
    );
    await service.app.settle();
    expect(await eventTypes(service.app, id)).toEqual(
      ['PENDING', 'PROCESSING', 'COMPLETED'].map((each) => `OUTGOING_PAYMENT.${each}`),
    );
    const sentWebhooks = service.sent.filter((each) => each.body?.includes(id));
    expect(sentWebhooks.length).toBe(3);
    const signatureHeaderOf = (request: HttpRequest) =>
      Object.entries(request.headers).find(
        ([name]) => /signature$/i.test(name) && /^x-/i.test(name),
      );
    for (const request of sentWebhooks) {
      const signature = signatureHeaderOf(request)?.[1] ?? '';
      const isValidKey = (pem: string) =>
        createVerify('sha256')
          .update(request.body ?? '')
          .verify(pem, signature, 'base64');
      expect(isValidKey(service.app.keys.production.publicKeyPem)).toBe(true);
      expect(isValidKey(service.app.keys.sandbox.publicKeyPem)).toBe(false);
    }
    const [railResult] = await service.app.runtime.db.query(
      'select * from rail_results where id = $1',
      [`${id}/payout/settled`],
    );
    expect(railResult).toMatchObject({ reference: 'SEPA-0001' });
  });

  it('is refunded if it fails', async () => {
    const { id, account } = await service.createPayment();
    await service.runJson('payouts', 'fail', id, '--reason', 'ACCOUNT_INVALID');
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 1_000_00,
      total: 1_000_00,
    });
    expect(await service.readQueue(id)).toEqual([]);
  });

  it('is in suspense if it fails and cannot be refunded', async () => {
    const { id, account } = await service.createPayment();
    await service.runJson(
      'payouts',
      'fail',
      id,
      '--reason',
      'COMPLIANCE_REJECTED',
      '--not-refundable',
    );
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED FAILED COMPLIANCE_REJECTED');
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(900_00);
  });

  it('may be returned days after it settled', async () => {
    const { id, account } = await service.createPayment();
    await service.expectRejected(
      'Only a settled transfer can be returned. The payment is PROCESSING.',
      ...['payouts', 'return', id, '--reason', 'PAYOUT_RETURNED'],
    );
    await service.runJson('payouts', 'settle', id);
    await service.app.advance(3 * DAY);
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    await service.runJson('payouts', 'return', id, '--reason', 'PAYOUT_RETURNED');
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED PAYOUT_RETURNED');
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(1_000_00);
    await service.expectRejected(
      'The payment is FAILED',
      'payouts',
      'return',
      id,
      '--reason',
      'PAYOUT_RETURNED',
    );
  });

  it('is listed oldest first, and of one platform only', async () => {
    const firstPayment = await service.createPayment();
    await service.app.advance(1_000);
    const secondPayment = await service.createPayment();
    const ids = (await service.runJson('payouts', 'list', '--platform', service.platform.id)).map(
      (each: { transactionId: string }) => each.transactionId,
    );
    expect(ids.indexOf(firstPayment.id)).toBeLessThan(ids.indexOf(secondPayment.id));
    expect(
      await service.runJson('payouts', 'list', '--platform', service.app.production.id),
    ).toEqual([]);
    expect(await service.runJson('payouts', 'list', '--limit', '1')).toHaveLength(1);
    for (const { id } of [firstPayment, secondPayment])
      await service.runJson('payouts', 'settle', id);
  });

  it('is listed although older rows of completed payments precede it', async () => {
    const completedPayments = [
      await service.createPayment(),
      await service.createPayment(),
      await service.createPayment(),
    ];
    for (const { id } of completedPayments) {
      await service.runJson('payouts', 'settle', id);
      const insertSql = `insert into awaited_rail_results (id, platform_id, kind, since)
        values ($1, $2, 'payout', '2026-01-01T00:00:00Z')`;
      await service.app.runtime.db.query(insertSql, [id, service.platform.id]);
    }
    const { id } = await service.createPayment();
    for (const limit of ['1', '2', '3']) {
      const list = await service.runJson('payouts', 'list', '--limit', limit);
      expect(list).toMatchObject([{ transactionId: id }]);
    }
    await service.runJson('payouts', 'settle', id);
  });
});

describe('a request to cancel a payout', () => {
  async function createAchPayout() {
    const from = await service.createPayer('500.00');
    const to = await createExternalAccount(
      service.app,
      from.person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const body = quoteBody(from.account, to.id, 100_00, { immediatelyExecute: true });
    const destination = { ...body.destination, paymentRail: 'ACH' };
    const createdQuote = ok(
      await service.app.call('POST', '/quotes', { ...body, destination }, service.callOptions),
      201,
    );
    await service.app.settle();
    return { ...from, id: createdQuote.transactionId as string };
  }

  it('is requested by the platform and decided by the operator', async () => {
    const { id, account } = await createAchPayout();
    await service.expectRejected('No cancellation is requested', 'payouts', 'cancel', id);
    ok(
      await service.app.call('POST', `/transactions/${id}/cancel`, undefined, service.callOptions),
      200,
    );
    await service.app.settle();
    const [pendingPayout] = await service.readQueue(id);
    expect(pendingPayout.cancelRequestedAt).not.toBeNull();
    await service.runJson('payouts', 'reject-cancel', id);
    expect((await service.readQueue(id))[0].cancelRequestedAt).toBeNull();
    ok(
      await service.app.call('POST', `/transactions/${id}/cancel`, undefined, service.callOptions),
      200,
    );
    await service.app.settle();
    await service.runJson('payouts', 'cancel', id);
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('COMPLETED COMPLETED -');
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(500_00);
  });
});

describe('an internal transfer', () => {
  it('cannot be returned by a rail', async () => {
    const { person, account } = await service.createPayer();
    const payee = await service.createPayer();
    const to = await findInternalAccount(service.app, payee.person.id, 'EUR', service.callOptions);
    const from = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const body = quoteBody(from.id, to.id, 100_00, { immediatelyExecute: true });
    const createdQuote = ok(
      await service.app.call('POST', '/quotes', body, service.callOptions),
      201,
    );
    await service.app.settle();
    const id = createdQuote.transactionId as string;
    await service.runJson('payouts', 'settle', id);
    const query = `/transactions?accountIdentifier=${to.id}&type=INCOMING`;
    const [counterparty] = ok(
      await service.app.call('GET', query, undefined, service.callOptions),
      200,
    ).data;
    const reason = ['--reason', 'PAYOUT_RETURNED'];
    await service.expectRejected(
      'This transfer did not use a rail',
      'payouts',
      'return',
      counterparty.id,
      ...reason,
    );
    await service.runJson('payouts', 'return', id, '--of', 'debit', ...reason);
    const receivedBalances = { balance: 91_08, total: 91_08 };
    expect(await readBalances(service.app, to.id, service.callOptions)).toEqual(receivedBalances);
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(0);
  });
});

describe('a request to cancel a debit', () => {
  it('is decided while the debit is in progress', async () => {
    const { person, account } = await service.createPayer();
    const from = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const parties = { source: { accountId: from.id }, destination: { accountId: account } };
    const body = { ...parties, amount: 40_00 };
    const { id } = ok(
      await service.app.call('POST', '/transfer-in', body, service.callOptions),
      201,
    );
    const send = () =>
      service.app.call('POST', `/transactions/${id}/cancel`, undefined, service.callOptions);
    // The cancellation is requested before and after the transfer reaches the rail.
    ok(await send(), 200);
    await service.app.advance(60_000);
    await service.runJson('payouts', 'reject-cancel', id);
    expect((await service.readQueue(id))[0].cancelRequestedAt).toBeNull();
    ok(await send(), 200);
    await service.app.settle();
    await service.runJson('payouts', 'cancel', id);
    expect(await service.readStatus(id)).toBe('FAILED - COLLECTION_FAILED');
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(0);
    expect((await send()).status).toBe(409);
  });
});

describe('a debit', () => {
  it('is listed, settled and paid out, and debits no amount if it fails', async () => {
    const { person } = await service.createPayer();
    const from = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const to = await service.createPayee(person.id);
    for (const isSettled of [true, false]) {
      const body = quoteBody(from.id, to, 50_00, { immediatelyExecute: true });
      const createdQuote = ok(
        await service.app.call('POST', '/quotes', body, service.callOptions),
        201,
      );
      await service.app.settle();
      const id = createdQuote.transactionId as string;
      const [debit] = await service.readQueue(id);
      expect(debit).toMatchObject({ kind: 'debit', amount: 50_00, currency: 'USD', rail: 'ACH' });
      expect(debit.account.routingNumber).toBe('021000021');
      if (!isSettled) {
        await service.runJson('payouts', 'fail', id, '--reason', 'ACCOUNT_INVALID');
        expect(await service.readStatus(id)).toBe('FAILED - ACCOUNT_INVALID');
        continue;
      }
      await service.runJson('payouts', 'settle', id);
      await service.app.settle();
      expect((await service.readQueue(id))[0]).toMatchObject({ kind: 'payout', currency: 'EUR' });
      await service.runJson('payouts', 'settle', id);
      expect(await service.readStatus(id)).toBe('COMPLETED - -');
    }
  });
});

describe('a payment over UMA', () => {
  const applyToRow = (id: string, work: (ctx: Ctx, row: TransactionRow) => Promise<unknown>) =>
    service.app.operate(async (ctx) => {
      await work(ctx, (await ctx.read(transactions, id)) as TransactionRow);
    });
  const findAwaitedTransfer = async (id: string) => {
    const allPayouts: { transactionId: string }[] = await service.runJson('payouts', 'list');
    return allPayouts.find((each) => each.transactionId === id);
  };

  it('is listed with its address while its result is awaited', async () => {
    const { account } = await createFundedCustomer(service.app);
    const umaAddress = '$pending.long.usd@sandbox.uma.money';
    const url = `/receiver/uma/${encodeURIComponent(umaAddress)}`;
    const { lookupId } = ok(await service.app.call('GET', url), 200);
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress };
    const body = quoteBody(account.id, '', 10_00, { destination, lookupId });
    const createdQuote = ok(
      await service.app.call('POST', '/quotes', { ...body, immediatelyExecute: true }),
      201,
    );
    const id = createdQuote.transactionId as string;
    await service.app.settle();
    await applyToRow(id, (ctx, row) => awaitRailResult(ctx, row, 'payout'));
    expect(await findAwaitedTransfer(id)).toMatchObject({
      ...{ kind: 'payout', accountType: 'UMA_ADDRESS', account: { umaAddress }, rail: null },
    });
  });

  it('waits for the operator without a polling interval', async () => {
    const config = { webhookEndpoint: 'http://127.0.0.1:9/' };
    ok(await service.app.call('PATCH', '/config', config), 200);
    const person = await createCustomer(service.app);
    const account = await findInternalAccount(service.app, person.id, 'USD');
    const umaAddress = '$success.usd@sandbox.uma.money';
    const body = { senderUmaAddress: umaAddress, customerId: person.id };
    const amountFields = { receivingCurrencyCode: 'USD', receivingCurrencyAmount: 5_00 };
    const url = '/sandbox/uma/receive';
    const { id } = ok(await service.app.call('POST', url, { ...body, ...amountFields }), 200);
    ok(await service.app.call('POST', `/transactions/${id}/approve`), 200);
    await applyToRow(id, (ctx, row) =>
      applyIncomingStatus(ctx, asIncoming(row), 'debit', { state: 'accepted' }),
    );
    expect(await findAwaitedTransfer(id)).toMatchObject({
      ...{ kind: 'debit', amount: 5_00, accountType: 'UMA_ADDRESS', account: { umaAddress } },
    });
    await applyToRow(id, (ctx, row) =>
      applyIncomingStatus(ctx, asIncoming(row), 'debit', { state: 'settled', reference: 'x' }),
    );
    expect(await findAwaitedTransfer(id)).toBeUndefined();
    expect((await readBalances(service.app, account.id)).total).toBe(5_00);
  });
});

describe('the sandbox', () => {
  it('rejects the settlement of a payout by the operator', async () => {
    const person = await createCustomer(service.app);
    const account = await findInternalAccount(service.app, person.id, 'USD');
    await service.app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, {
      amount: 1_000_00,
    });
    const to = await createExternalAccount(service.app, person.id, 'EUR', '003');
    const body = quoteBody(account.id, to.id, 100_00, { immediatelyExecute: true });
    const { transactionId: id } = ok(await service.app.call('POST', '/quotes', body), 201);
    await service.app.settle();
    await service.expectRejected('The transaction is in the sandbox', 'payouts', 'settle', id);
    await service.expectRejected('Transaction not found.', 'payouts', 'settle', 'Transaction:x');
  });

  it('allows the return of a payout, once, even if its bank reports the return later', async () => {
    const { person, account } = await createFundedCustomer(service.app, 20_00);
    const returnFlags = ['--reason', 'PAYOUT_RETURNED'];
    for (const suffix of ['000', '005']) {
      const to = await createExternalAccount(service.app, person.id, 'USD', suffix);
      const body = { ...quoteBody(account.id, to.id, 10_00), immediatelyExecute: true };
      const { transactionId: id } = ok(await service.app.call('POST', '/quotes', body), 201);
      await service.expectRejected(
        'Only a settled transfer can be returned',
        'payouts',
        'return',
        id,
        ...returnFlags,
      );
      await service.app.settle();
      await service.runJson('payouts', 'return', id, ...returnFlags);
      await service.expectRejected(
        'Only a settled transfer can be returned',
        'payouts',
        'return',
        id,
        ...returnFlags,
      );
      await service.app.advance(60_000);
      await service.app.settle();
      expect(await readBalances(service.app, account.id)).toEqual({ balance: 20_00, total: 20_00 });
    }
  });

  it('rejects production credentials in every operation', async () => {
    // A test webhook has no effect, so a production platform may request one.
    const sandboxOperations = service.app.operations.filter(
      ({ contract: { path: url } }) => url.startsWith('/sandbox/') && !url.endsWith('/test'),
    );
    expect(sandboxOperations.length).toBeGreaterThan(0);
    for (const { contract } of sandboxOperations) {
      const url = contract.path.replace(/\{[^}]+\}/g, 'InternalAccount:x');
      const body = contract.method === 'GET' ? undefined : {};
      const response = await service.app.call(contract.method, url, body, service.callOptions);
      expect([url, response.status, response.body.code]).toEqual([url, 403, 'FORBIDDEN']);
    }
  });
});
