// Payments with external funds: exact, insufficient, excess, late and repeated funds for a quote,
// and debits with every result of a bank. The tests compare final states, the order of events,
// balances and postings.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { internalAccounts } from '../../../balances/internal-accounts/store.ts';
import { readCurrent } from '../../payouts/payout-jobs.ts';
import { asOutgoing } from '../../transactions/rows.ts';
import { applyFundingStatus } from './funding.ts';

const app = testApp();

const MINUTE_MS = 60_000;
const REFUNDED_PAYMENT_EVENTS = [
  'PENDING',
  'PROCESSING',
  'FAILED',
  'REFUND_PENDING',
  'REFUND_COMPLETED',
];

const shortenTypes = (types: string[]) =>
  types.map((type) => type.replace('OUTGOING_PAYMENT.', ''));
const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);
const quoteOf = async (id: string) => ok(await app.call('GET', `/quotes/${id}`), 200);

/** A quote that awaits funds, to a Mexican account by default. */
async function createPendingQuote(source: object = {}, overrides: object = {}) {
  const person = await createCustomer(app);
  const target = await createExternalAccount(app, person.id, 'MXN');
  const body = {
    ...quoteBody('', target.id, 100_00),
    source: {
      sourceType: 'REALTIME_FUNDING',
      currency: 'USD',
      customerId: person.id,
      ...source,
    },
    ...overrides,
  };
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  return { person, target, quote };
}

const send = (quoteId: string, overrides: object = {}) =>
  app.call('POST', '/sandbox/send', { quoteId, currencyCode: 'USD', ...overrides });

describe('realtime funding quote', () => {
  it('includes payment instructions, on the quote and its transaction', async () => {
    const { quote } = await createPendingQuote();
    const [instruction] = quote.paymentInstructions;
    expect(instruction.accountOrWalletInfo).toMatchObject({ accountType: 'USD_ACCOUNT' });
    const payment = await getTransaction(quote.transactionId);
    expect(instruction.accountOrWalletInfo.reference).toBe(
      payment.reconciliationInstructions.reference,
    );
    expect(payment.paymentInstructions).toEqual(quote.paymentInstructions);
    expect(payment.source).toMatchObject({ sourceType: 'REALTIME_FUNDING', currency: 'USD' });
    expect(Date.parse(quote.expiresAt) - Date.parse(quote.createdAt)).toBe(15 * MINUTE_MS);
  });

  it('continues when the exact amount arrives', async () => {
    const { quote } = await createPendingQuote();
    const receivedPayment = ok(await send(quote.id), 200);
    expect(receivedPayment).toMatchObject({
      id: quote.transactionId,
      type: 'OUTGOING',
      status: 'PROCESSING',
      source: { accountHolderName: 'Sandbox payer' },
    });
    await app.settle();
    expect((await quoteOf(quote.id)).status).toBe('COMPLETED');
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual([
      'PENDING',
      'PROCESSING',
      'COMPLETED',
    ]);
  });

  it.each([
    ['less', 99_99],
    ['more', 100_01],
  ])('fails with %s than the amount and refunds all funds', async (_, currencyAmount) => {
    const { quote } = await createPendingQuote();
    ok(await send(quote.id, { currencyAmount }), 200);
    await app.settle();
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'FAILED',
      failureReason: 'FUNDING_AMOUNT_MISMATCH',
      refund: { status: 'COMPLETED', reason: 'TRANSACTION_FAILED' },
    });
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual(
      REFUNDED_PAYMENT_EVENTS,
    );
    const [posting] = await app.runtime.db.query(
      `select debit, credit, amount from ledger_transfers
        where transaction_id = $1 and step = 'refund.out'`,
      [quote.transactionId],
    );
    expect(posting).toMatchObject({
      debit: 'system:sandbox:inbound:USD',
      credit: 'system:sandbox:rail_in_transit:USD',
      amount: BigInt(currencyAmount),
    });
  });

  it('returns funds that arrive after its expiry', async () => {
    const { quote } = await createPendingQuote();
    await app.advance(15 * MINUTE_MS);
    const unmatchedDeposit = ok(await send(quote.id), 200);
    expect(unmatchedDeposit).toMatchObject({
      type: 'INCOMING',
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
      quoteId: quote.id,
    });
    await app.settle();
    expect((await getTransaction(unmatchedDeposit.id)).refund.status).toBe('COMPLETED');
    expect((await quoteOf(quote.id)).status).toBe('EXPIRED');
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual(['EXPIRED']);
  });

  it('returns repeated funds', async () => {
    const { quote } = await createPendingQuote();
    ok(await send(quote.id), 200);
    const unmatchedDeposit = ok(await send(quote.id), 200);
    expect(unmatchedDeposit).toMatchObject({ type: 'INCOMING', status: 'FAILED' });
    await app.settle();
    expect((await quoteOf(quote.id)).status).toBe('COMPLETED');
    expect((await getTransaction(unmatchedDeposit.id)).refund.status).toBe('COMPLETED');
  });

  it('credits an internal account immediately', async () => {
    const person = await createCustomer(app);
    const usdc = await findInternalAccount(app, person.id, 'USDC');
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const body = { ...quoteBody('', usdc.id, 100_00), source };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    expect(ok(await send(quote.id), 200).status).toBe('COMPLETED');
    expect((await readBalances(app, usdc.id)).balance).toBe(quote.totalReceivingAmount);
  });

  it('refunds the sender of the funds if the payout fails', async () => {
    const person = await createCustomer(app);
    const target = await createExternalAccount(app, person.id, 'MXN', '004');
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const body = { ...quoteBody('', target.id, 100_00), source };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    ok(await send(quote.id), 200);
    await app.advance(3_000);
    expect((await getTransaction(quote.transactionId)).refund.status).toBe('COMPLETED');
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual(
      REFUNDED_PAYMENT_EVENTS,
    );
  });

  it('fails if the receiving account was deleted before the funds arrive', async () => {
    const { quote, target } = await createPendingQuote();
    ok(await app.call('DELETE', `/customers/external-accounts/${target.id}`), 204);
    ok(await send(quote.id), 200);
    await app.settle();
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'FAILED',
      failureReason: 'ACCOUNT_INVALID',
      refund: { status: 'COMPLETED' },
    });
  });

  it('rejects executeQuote and immediatelyExecute', async () => {
    const { quote } = await createPendingQuote();
    const response = await app.call('POST', `/quotes/${quote.id}/execute`);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    const person = await createCustomer(app);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD' };
    const body = { ...quoteBody('', target.id, 100), source, immediatelyExecute: true };
    const rejectedResponse = await app.call('POST', '/quotes', body);
    expect(rejectedResponse.body.details.errors).toMatchObject([{ field: 'immediatelyExecute' }]);
  });
});

describe('realtime funding in a digital asset', () => {
  const usdc = { currency: 'USDC', cryptoNetwork: 'SOLANA' };

  it('requires a cryptoNetwork that supports the asset', async () => {
    const person = await createCustomer(app);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const requestQuote = async (source: object) => {
      const body = {
        ...quoteBody('', target.id, 100_000_000),
        source: { sourceType: 'REALTIME_FUNDING', ...source },
      };
      const { status, body: reply } = await app.call('POST', '/quotes', body);
      return [status, reply.code, reply.details?.errors?.[0]?.field];
    };
    const networkError = [400, 'INVALID_INPUT', 'source.cryptoNetwork'];
    expect(await requestQuote({ currency: 'USDC' })).toEqual(networkError);
    expect(await requestQuote({ currency: 'USDC', cryptoNetwork: 'TRON' })).toEqual(networkError);
    expect(await requestQuote({ currency: 'NGN' })).toEqual([400, 'INVALID_CURRENCY', undefined]);
    expect(await requestQuote({ currency: 'JPY' })).toEqual([400, 'INVALID_CURRENCY', undefined]);
  });

  it('credits a wrong amount and late funds to an account of the payer', async () => {
    const { person, quote } = await createPendingQuote(usdc, { lockedCurrencyAmount: 100_000_000 });
    const ownInternalAccount = await findInternalAccount(app, person.id, 'USDC');
    const pay = (currencyAmount?: number) =>
      app.call('POST', '/sandbox/send', {
        quoteId: quote.id,
        currencyCode: 'USDC',
        ...(currencyAmount ? { currencyAmount } : {}),
      });
    ok(await pay(99_000_000), 200);
    await app.settle();
    expect((await getTransaction(quote.transactionId)).refund.status).toBe('COMPLETED');
    expect((await readBalances(app, ownInternalAccount.id)).balance).toBe(99_000_000);
    const latePayment = ok(await pay(), 200);
    expect(latePayment).toMatchObject({ type: 'INCOMING', status: 'COMPLETED' });
    expect((await readBalances(app, ownInternalAccount.id)).balance).toBe(199_000_000);
  });
});

describe('sandboxSend', () => {
  const sendStatusAndCode = async (body: object) => {
    const response = await app.call('POST', '/sandbox/send', body);
    return [response.status, response.body.code];
  };

  it('rejects invalid requests', async () => {
    const { quote } = await createPendingQuote();
    expect(await sendStatusAndCode({ quoteId: quote.id, currencyCode: 'EUR' })).toEqual([
      400,
      'INVALID_CURRENCY',
    ]);
    expect(
      await sendStatusAndCode({ quoteId: quote.id, currencyCode: 'USD', currencyAmount: 0 }),
    ).toEqual([400, 'INVALID_INPUT']);
    const unknownId = 'Quote:00000000-0000-7000-8000-000000000000';
    expect(await sendStatusAndCode({ quoteId: unknownId, currencyCode: 'USD' })).toEqual([
      404,
      'QUOTE_NOT_FOUND',
    ]);
    const { person } = await createPendingQuote();
    const account = await findInternalAccount(app, person.id, 'USD');
    const target = await createExternalAccount(app, person.id, 'EUR');
    const prefundedQuote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
      201,
    );
    expect(await sendStatusAndCode({ quoteId: prefundedQuote.id, currencyCode: 'USD' })).toEqual([
      400,
      'INVALID_INPUT',
    ]);
    const response = await app.call(
      'POST',
      '/sandbox/send',
      { quoteId: quote.id },
      {
        platform: app.production,
      },
    );
    expect(response.status).toBe(403);
  });
});

describe('quote funded by debit', () => {
  async function createDebitedQuote(suffix: string) {
    const person = await createCustomer(app);
    const source = await createExternalAccount(app, person.id, 'USD', suffix);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const body = quoteBody(source.id, target.id, 100_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const executedQuote = ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    expect(executedQuote.status).toBe('PROCESSING');
    return { person, quote, source };
  }

  it('completes', async () => {
    const { quote } = await createDebitedQuote('000');
    await app.settle();
    expect((await quoteOf(quote.id)).status).toBe('COMPLETED');
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual([
      'PENDING',
      'PROCESSING',
      'COMPLETED',
    ]);
  });

  it.each([
    ['002', 'QUOTE_EXECUTION_FAILED', 0],
    ['003', 'ACCOUNT_INVALID', 0],
    ['004', 'ACCOUNT_CANNOT_RECEIVE', 0],
    ['005', 'PAYOUT_RETURNED', 30_000],
  ])('fails for the suffix %s as %s, without a refund', async (suffix, reason, ms) => {
    const { quote } = await createDebitedQuote(suffix);
    await app.settle();
    if (ms) expect((await quoteOf(quote.id)).status).toBe('PROCESSING');
    await app.advance(ms);
    const payment = await getTransaction(quote.transactionId);
    expect(payment).toMatchObject({ status: 'FAILED', failureReason: reason });
    expect(payment.refund).toBeUndefined();
    expect(shortenTypes(await eventTypes(app, quote.transactionId))).toEqual([
      'PENDING',
      'PROCESSING',
      'FAILED',
    ]);
  });

  it('records a shortfall if the bank returns the debit after the payout', async () => {
    const { quote, person } = await createDebitedQuote('000');
    await app.settle();
    const account = await findInternalAccount(app, person.id, 'USD');
    await fundAccount(app, account.id, 30_00);
    await app.advance(3 * 24 * 60 * MINUTE_MS);
    await app.operate(async (ctx) => {
      const row = await readCurrent(ctx, quote.transactionId, asOutgoing);
      await applyFundingStatus(ctx, row, { state: 'returned', reason: 'PAYOUT_RETURNED' });
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const row = await app.runtime.db.read(internalAccounts, account.id);
    expect(row?.owed).toBe(70_00n);
    await fundAccount(app, account.id, 100_00);
    expect(await readBalances(app, account.id)).toEqual({ balance: 30_00, total: 30_00 });
  });

  it('is rejected for an account that cannot be debited', async () => {
    const person = await createCustomer(app);
    const source = await createExternalAccount(app, person.id, 'EUR');
    const target = await createExternalAccount(app, person.id, 'MXN');
    const response = await app.call('POST', '/quotes', quoteBody(source.id, target.id, 100_00));
    expect([response.status, response.body.details.errors[0].field]).toEqual([
      400,
      'source.accountId',
    ]);
  });
});
