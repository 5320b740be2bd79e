// A payment from quote to settlement, with every outcome that the sandbox simulates.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const MINUTE_MS = 60_000;
const paymentEvents = (...names: string[]) => names.map((name) => `OUTGOING_PAYMENT.${name}`);

async function createQuote(
  currency: string,
  suffix: string,
  amount = 100_00,
  overrides: object = {},
) {
  const { person, account } = await createFundedCustomer(app);
  const target = await createExternalAccount(app, person.id, currency, suffix);
  const body = quoteBody(account.id, target.id, amount, overrides);
  const quote = ok(await app.call('POST', '/quotes', body), 201);
  return { person, account, target, quote };
}

const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);
const execute = (id: string, headers = {}) =>
  app.call('POST', `/quotes/${id}/execute`, undefined, { headers });

describe('createQuote', () => {
  it('prices a payment without a posting', async () => {
    const { account, target, quote } = await createQuote('EUR', '000');
    expect(quote).toMatchObject({
      status: 'PENDING',
      source: { sourceType: 'ACCOUNT', accountId: account.id },
      destination: { destinationType: 'ACCOUNT', accountId: target.id },
      totalSendingAmount: 100_00,
      lockedCurrencySide: 'SENDING',
    });
    expect(quote.sendingCurrency.code).toBe('USD');
    expect(quote.receivingCurrency.code).toBe('EUR');
    const rate = (quote.totalSendingAmount - quote.feesIncluded) / quote.totalReceivingAmount;
    expect(quote.exchangeRate).toBeCloseTo(rate, 7);
    expect(await readBalances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    expect((await getTransaction(quote.transactionId)).status).toBe('PENDING');
    expect(await eventTypes(app, quote.transactionId)).toEqual([]);
  });

  it('locks the receiving side', async () => {
    const { quote } = await createQuote('MXN', '000', 500_00, { lockedCurrencySide: 'RECEIVING' });
    expect(quote.totalReceivingAmount).toBe(500_00);
  });

  it('uses rate 1 for equal currencies', async () => {
    const { quote } = await createQuote('USD', '000');
    expect(quote).toMatchObject({ exchangeRate: 1, feesIncluded: 0, totalReceivingAmount: 100_00 });
  });

  it('reports every invalid field in one response', async () => {
    const response = await app.call('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT' },
      lockedCurrencyAmount: 0,
    });
    expect(response.status).toBe(400);
    expect(response.body.code).toBe('INVALID_INPUT');
    const fields = response.body.details.errors.map((each: { field: string }) => each.field);
    expect(fields.sort()).toEqual([
      'destination',
      'lockedCurrencyAmount',
      'lockedCurrencySide',
      'source.accountId',
    ]);
  });

  it('rejects invalid sources, destinations, amounts and rails', async () => {
    const { account, target } = await createQuote('EUR', '000');
    const expectError = async (body: object, status: number, code: string) => {
      const response = await app.call('POST', '/quotes', body);
      expect([response.status, response.body.code]).toEqual([status, code]);
    };
    // The source is reported first, although the destination needs fewer reads.
    const foreignCustomer = await createCustomer(app, { platform: app.other });
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USDC', cryptoNetwork: 'SOLANA' };
    await Promise.all(
      ['ExternalAccount:nope', 'InternalAccount:nope', account.id.replace(/....$/, '0000')].map(
        (id) =>
          expectError(
            {
              ...quoteBody(account.id, id, 100),
              source: { ...source, customerId: foreignCustomer.id },
            },
            404,
            'CUSTOMER_NOT_FOUND',
          ),
      ),
    );
    await expectError(quoteBody(account.id, account.id, 100), 400, 'SELF_PAYMENT');
    await expectError(quoteBody(account.id, target.id, 1), 400, 'AMOUNT_OUT_OF_RANGE');
    await expectError(
      quoteBody(account.id, target.id, 9_000_000_000_000_000),
      400,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    );
    await expectError(quoteBody('InternalAccount:nope', target.id, 100), 404, 'ACCOUNT_NOT_FOUND');
    await expectError(quoteBody(target.id, account.id, 100), 400, 'INVALID_INPUT');
    await expectError(
      {
        ...quoteBody(account.id, target.id, 100),
        destination: { destinationType: 'UMA_ADDRESS', umaAddress: '$a@b.c' },
      },
      400,
      'MISSING_REQUIRED_UMA_PARAMETERS',
    );
    await expectError(
      {
        ...quoteBody(account.id, target.id, 100_00),
        destination: { destinationType: 'ACCOUNT', accountId: target.id, paymentRail: 'PIX' },
      },
      400,
      'INVALID_INPUT',
    );
  });

  it('rejects a customer who is not approved', async () => {
    const pendingCustomer = await createCustomer(app, {}, { fullName: 'Waiting Person001' });
    expect(pendingCustomer.kycStatus).toBe('PENDING');
    const account = await findInternalAccount(app, pendingCustomer.id, 'USD');
    const target = await createExternalAccount(app, pendingCustomer.id, 'EUR');
    const response = await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00));
    expect([response.status, response.body.code]).toEqual([403, 'USER_NOT_READY']);
  });

  it('executes immediately on request', async () => {
    const { account, quote } = await createQuote('EUR', '000', 100_00, {
      immediatelyExecute: true,
    });
    expect(quote.status).toBe('PROCESSING');
    expect(await readBalances(app, account.id)).toEqual({ balance: 900_00, total: 1_000_00 });
    await app.settle();
    expect((await getTransaction(quote.transactionId)).status).toBe('COMPLETED');
  });

  it('rejects immediate execution without sufficient funds', async () => {
    const { person, account } = await createFundedCustomer(app, 50_00);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true });
    const response = await app.call('POST', '/quotes', body);
    expect([response.status, response.body.code]).toEqual([400, 'INSUFFICIENT_FUNDS']);
  });

  it('replays one idempotency key and rejects another body', async () => {
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const headers = { 'idempotency-key': 'quote-once' };
    const body = quoteBody(account.id, target.id, 100_00);
    const pendingResponses = Array.from({ length: 30 }, () =>
      app.call('POST', '/quotes', body, { headers }),
    );
    const responses = await Promise.all(pendingResponses);
    expect(new Set(responses.map((each) => each.body.id)).size).toBe(1);
    const replays = responses.filter((each) => each.headers['idempotency-replayed'] === 'true');
    expect(replays).toHaveLength(29);
    const otherQuoteBody = quoteBody(account.id, target.id, 101_00);
    const response = await app.call('POST', '/quotes', otherQuoteBody, { headers });
    expect([response.status, response.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
    expect(response.headers['x-should-retry']).toBe('false');
  });
});

describe('executeQuote', () => {
  describe('to an external account', () => {
    const sequences: [string, string, number, string[], object][] = [
      [
        '000',
        'success',
        0,
        paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'),
        { status: 'COMPLETED' },
      ],
      [
        '002',
        'execution failed',
        0,
        paymentEvents('PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'),
        {
          status: 'FAILED',
          failureReason: 'QUOTE_EXECUTION_FAILED',
          refund: { status: 'COMPLETED' },
        },
      ],
      [
        '003',
        'late completion',
        6 * MINUTE_MS,
        paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'),
        { status: 'COMPLETED' },
      ],
      [
        '004',
        'delivery failed',
        MINUTE_MS,
        paymentEvents('PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'),
        { failureReason: 'COUNTERPARTY_POST_TX_FAILED', refund: { reason: 'TRANSACTION_FAILED' } },
      ],
      [
        '005',
        'returned by the bank',
        MINUTE_MS,
        paymentEvents(
          'PENDING',
          'PROCESSING',
          'COMPLETED',
          'FAILED',
          'REFUND_PENDING',
          'REFUND_COMPLETED',
        ),
        { status: 'FAILED', failureReason: 'PAYOUT_RETURNED', refund: { status: 'COMPLETED' } },
      ],
      [
        '006',
        'canceled',
        MINUTE_MS,
        paymentEvents('PENDING', 'PROCESSING', 'REFUND_PENDING', 'REFUND_COMPLETED', 'COMPLETED'),
        { status: 'COMPLETED', refund: { status: 'COMPLETED', reason: 'USER_CANCELLATION' } },
      ],
      [
        '007',
        'refund failed',
        MINUTE_MS,
        paymentEvents('PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_FAILED'),
        { status: 'FAILED', refund: { status: 'FAILED' } },
      ],
    ];

    for (const currency of ['EUR', 'USD']) {
      it.each(sequences)(
        `pays ${currency} to an account with suffix %s: %s`,
        async (suffix, _description, waitMs, events, expectedTransaction) => {
          const { account, quote } = await createQuote(currency, suffix);
          const executedQuote = ok(await execute(quote.id), 200);
          expect(executedQuote.status).toBe('PROCESSING');
          expect(await readBalances(app, account.id)).toEqual({ balance: 900_00, total: 1_000_00 });
          if (suffix === '003') {
            await app.advance(waitMs - 1_000);
            expect((await getTransaction(quote.transactionId)).status).toBe('PROCESSING');
            await app.advance(1_000);
          } else await app.advance(waitMs);
          expect(await eventTypes(app, quote.transactionId)).toEqual(events);
          expect(await getTransaction(quote.transactionId)).toMatchObject(expectedTransaction);
          const isRefunded = 'refund' in expectedTransaction && suffix !== '007';
          const expectedBalance = isRefunded ? 1_000_00 : 900_00;
          expect(await readBalances(app, account.id)).toEqual({
            balance: expectedBalance,
            total: expectedBalance,
          });
          await expectBalancedBooks(app);
        },
      );
    }

    it('keeps the quote completed if the bank returns the payment', async () => {
      const { quote } = await createQuote('EUR', '005');
      await execute(quote.id);
      await app.advance(MINUTE_MS);
      expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200).status).toBe('COMPLETED');
    });

    it('executes a quote once under concurrent requests', async () => {
      const { quote } = await createQuote('EUR', '000');
      const responses = await Promise.all(Array.from({ length: 8 }, () => execute(quote.id)));
      expect(responses.map((each) => each.status).sort()).toEqual([
        200, 409, 409, 409, 409, 409, 409, 409,
      ]);
      await app.settle();
      expect(await eventTypes(app, quote.transactionId)).toEqual(
        paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'),
      );
    });

    it('is idempotent for one key', async () => {
      const { account, quote } = await createQuote('EUR', '000');
      const headers = { 'idempotency-key': 'same-as-the-quote' };
      const responses = await Promise.all(
        Array.from({ length: 30 }, () => execute(quote.id, headers)),
      );
      expect(new Set(responses.map((each) => each.status))).toEqual(new Set([200]));
      expect(responses.filter((each) => each.headers['idempotency-replayed'])).toHaveLength(29);
      expect((await readBalances(app, account.id)).balance).toBe(900_00);
    });

    it('rejects an insufficient balance, and replays the error for the same key', async () => {
      const { person, account } = await createFundedCustomer(app, 50_00);
      const target = await createExternalAccount(app, person.id, 'EUR');
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
        201,
      );
      const headers = { 'idempotency-key': 'short' };
      const response = await execute(quote.id, headers);
      expect([response.status, response.body.code]).toEqual([400, 'INSUFFICIENT_FUNDS']);
      await fundAccount(app, account.id, 100_00);
      expect((await execute(quote.id, headers)).headers['idempotency-replayed']).toBe('true');
      expect((await execute(quote.id)).status).toBe(200);
    });

    it('rejects an expired quote before the sweep emits the event', async () => {
      const { quote } = await createQuote('EUR', '000');
      app.effects.set(Date.parse(quote.expiresAt));
      const response = await execute(quote.id);
      expect([response.status, response.body.code]).toEqual([400, 'QUOTE_EXPIRED']);
      expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200).status).toBe('EXPIRED');
      await app.settle();
      expect(await eventTypes(app, quote.transactionId)).toEqual(paymentEvents('EXPIRED'));
      expect((await getTransaction(quote.transactionId)).status).toBe('EXPIRED');
    });

    it('rejects a deleted destination', async () => {
      const { target, quote } = await createQuote('EUR', '000');
      ok(await app.call('DELETE', `/customers/external-accounts/${target.id}`), 204);
      const response = await execute(quote.id);
      expect([response.status, response.body.code]).toEqual([404, 'ACCOUNT_NOT_FOUND']);
    });
  });

  describe('between internal accounts', () => {
    it('posts the payment in one commit and notifies both owners', async () => {
      const { account } = await createFundedCustomer(app);
      const payee = await createCustomer(app);
      const target = await findInternalAccount(app, payee.id, 'EUR');
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
        201,
      );
      const executedQuote = ok(await execute(quote.id), 200);
      expect(executedQuote.status).toBe('COMPLETED');
      expect((await readBalances(app, account.id)).balance).toBe(900_00);
      expect((await readBalances(app, target.id)).balance).toBe(quote.totalReceivingAmount);
      expect(await eventTypes(app, quote.transactionId)).toEqual(
        paymentEvents('PENDING', 'PROCESSING', 'COMPLETED'),
      );
      const page = ok(await app.call('GET', `/transactions?customerId=${payee.id}`), 200);
      expect(page.data).toHaveLength(1);
      expect(page.data[0]).toMatchObject({
        type: 'INCOMING',
        direction: 'CREDIT',
        status: 'COMPLETED',
      });
      expect(await eventTypes(app, page.data[0].id)).toEqual(['INCOMING_PAYMENT.COMPLETED']);
      const targetEvents = (await app.events()).filter((each) => each.subject === target.id);
      expect(targetEvents.at(-1)).toMatchObject({
        balance: BigInt(quote.totalReceivingAmount),
        held: 0n,
      });
    });

    it('creates no counterparty transaction between accounts of one owner', async () => {
      const { person, account } = await createFundedCustomer(app);
      const target = await findInternalAccount(app, person.id, 'MXN');
      const quote = ok(
        await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
        201,
      );
      ok(await execute(quote.id), 200);
      const page = ok(
        await app.call('GET', `/transactions?customerId=${person.id}&type=OUTGOING`),
        200,
      );
      expect(page.data).toHaveLength(1);
      const transactions = ok(await app.call('GET', `/transactions?customerId=${person.id}`), 200);
      expect(transactions.data.map((each: { type: string }) => each.type)).toEqual([
        'OUTGOING',
        'INCOMING',
      ]);
    });
  });
});

describe('getQuoteById', () => {
  it('returns the quote as it was created', async () => {
    const { quote } = await createQuote('EUR', '000');
    expect(ok(await app.call('GET', `/quotes/${quote.id}`), 200)).toEqual(quote);
  });

  it('returns QUOTE_NOT_FOUND for a quote of another platform and an unknown ID', async () => {
    const { quote } = await createQuote('EUR', '000');
    const foreignReply = await app.call('GET', `/quotes/${quote.id}`, undefined, {
      platform: app.other,
    });
    const unknownReply = await app.call('GET', '/quotes/x');
    for (const { status, body } of [foreignReply, unknownReply]) {
      expect([status, body.code]).toEqual([404, 'QUOTE_NOT_FOUND']);
    }
  });
});

describe('platform fees', () => {
  it('are included in the price, credited to the platform, and refunded', async () => {
    const feeConfigs = [
      {
        feeType: 'CROSS_CURRENCY_TRANSACTION',
        sourceCurrency: 'USD',
        variableFeeBps: 30,
        fixedFee: { amount: 50, currency: 'USD' },
      },
    ];
    ok(await app.call('PATCH', '/config', { feeConfigs }), 200);
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const balanceBefore = (await readBalances(app, platformAccount.id)).balance;
    const { quote } = await createQuote('EUR', '000');
    expect(quote.platformFeesIncluded).toBe(50 + 30);
    ok(await execute(quote.id), 200);
    await app.settle();
    expect((await readBalances(app, platformAccount.id)).balance).toBe(balanceBefore + 80);
    const returnedPayment = await createQuote('EUR', '005');
    ok(await execute(returnedPayment.quote.id), 200);
    await app.advance(MINUTE_MS);
    expect((await readBalances(app, platformAccount.id)).balance).toBe(balanceBefore + 80);
    expect((await readBalances(app, returnedPayment.account.id)).balance).toBe(1_000_00);
    const waivedFeePayment = await createQuote('EUR', '000', 100_00, {
      platformFeeOverride: {
        platformFixedFee: { amount: 0, currency: 'USD' },
        platformVariableFeeBps: 0,
      },
    });
    expect(waivedFeePayment.quote.platformFeesIncluded).toBe(0);
    const zeroFees = feeConfigs.map((fee) => ({
      ...fee,
      variableFeeBps: 0,
      fixedFee: { amount: 0, currency: 'USD' },
    }));
    expect(
      ok(await app.call('PATCH', '/config', { feeConfigs: zeroFees }), 200).feeConfigs,
    ).toEqual([]);
  });
});
