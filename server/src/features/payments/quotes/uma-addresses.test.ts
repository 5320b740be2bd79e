// Payments to UMA addresses: sandbox addresses from payee discovery to the final status, and the
// rejections.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();

const HOST = 'sandbox.uma.money';
const discover = (address: string, customerId: string) =>
  app.call('GET', `/receiver/uma/${encodeURIComponent(address)}?customerId=${customerId}`);
const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

const SENDER_INFO = { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15', NATIONALITY: 'US' };

async function createQuote(address: string, overrides: object = {}) {
  const { person, account } = await createFundedCustomer(app);
  const { lookupId } = ok(await discover(address, person.id), 200);
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: account.id },
    destination: { destinationType: 'UMA_ADDRESS', umaAddress: address },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 100_00,
    lookupId,
    senderCustomerInfo: SENDER_INFO,
    ...overrides,
  };
  return { person, account, body, response: await app.call('POST', '/quotes', body) };
}

const execute = async (id: string) => ok(await app.call('POST', `/quotes/${id}/execute`), 200);

describe('payment to a UMA address', () => {
  it('credits the balance of an internal receiver with an embedded wallet', async () => {
    const receiver = await createCustomer(app, {}, { currencies: ['USDB'] });
    const tokenAccount = await findInternalAccount(app, receiver.id, 'USDB');
    const path = `/customers/internal-accounts?customerId=${receiver.id}&type=EMBEDDED_WALLET`;
    const [wallet] = ok(await app.call('GET', path), 200).data;
    const quote = ok((await createQuote(receiver.umaAddress)).response, 201);
    expect(quote.receivingCurrency.code).toBe('USDB');
    await execute(quote.id);
    await app.settle();
    const { total } = await readBalances(app, tokenAccount.id);
    expect(total).toBe(quote.totalReceivingAmount);
    expect(await readBalances(app, wallet.id)).toMatchObject({ total: 0 });
    // A frozen balance is not replaced by the wallet.
    const secondRequest = await createQuote(receiver.umaAddress);
    const freezeSql = `update internal_accounts set status = 'FROZEN', version = version + 1 where id = $1`;
    await app.runtime.db.query(freezeSql, [tokenAccount.id]);
    const rejectedResponse = await app.call('POST', '/quotes', secondRequest.body);
    expect(rejectedResponse.status).toBe(400);
    expect(rejectedResponse.body).toMatchObject({
      code: 'INVALID_RECEIVER',
      reason: expect.stringMatching(/^The receiver .* USDB account\. Call lookupUma again /),
    });
    const { person } = await createFundedCustomer(app);
    expect((await discover(receiver.umaAddress, person.id)).status).not.toBe(200);
    const unfreezeSql =
      "update internal_accounts set status = 'ACTIVE', version = version + 1 where id = $1";
    await app.runtime.db.query(unfreezeSql, [tokenAccount.id]);
  });

  it.each(['usd', 'eur', 'mxn'])('completes in %s', async (code) => {
    const address = `$success.${code}@${HOST}`;
    const { account, response } = await createQuote(address);
    const quote = ok(response, 201);
    expect(quote.receivingCurrency.code).toBe(code.toUpperCase());
    await execute(quote.id);
    await app.settle();
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'COMPLETED',
      destination: { destinationType: 'UMA_ADDRESS', umaAddress: address },
      receiverUmaAddress: address,
    });
    expect((await readBalances(app, account.id)).total).toBe(900_00);
    const filter = `receiverAccountIdentifier=${encodeURIComponent(address)}`;
    const transactions = ok(await app.call('GET', `/transactions?${filter}`), 200);
    expect(transactions.data.map((each: { id: string }) => each.id)).toContain(quote.transactionId);
  });

  it('remains in PROCESSING for more than five minutes for an address with a delay', async () => {
    const { response } = await createQuote(`$pending.long.usd@${HOST}`);
    const quote = ok(response, 201);
    await execute(quote.id);
    await app.settle();
    await app.advance(5 * 60_000);
    expect((await getTransaction(quote.transactionId)).status).toBe('PROCESSING');
    await app.advance(60_000);
    expect((await getTransaction(quote.transactionId)).status).toBe('COMPLETED');
  });

  it('is refunded if the counterparty rejects the payment', async () => {
    const { account, response } = await createQuote(`$fail.compliance.usd@${HOST}`);
    const quote = ok(response, 201);
    await execute(quote.id);
    await app.settle();
    await app.advance(60_000);
    expect(await getTransaction(quote.transactionId)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COMPLIANCE_REJECTED',
      refund: { status: 'COMPLETED' },
    });
    expect(await eventTypes(app, quote.transactionId)).toEqual(
      ['PENDING', 'PROCESSING', 'FAILED', 'REFUND_PENDING', 'REFUND_COMPLETED'].map(
        (each) => `OUTGOING_PAYMENT.${each}`,
      ),
    );
    expect((await readBalances(app, account.id)).balance).toBe(1_000_00);
  });

  it('completes immediately for a customer of the same platform', async () => {
    const receiver = await createCustomer(app);
    const { response } = await createQuote(receiver.umaAddress, {
      destination: {
        destinationType: 'UMA_ADDRESS',
        umaAddress: receiver.umaAddress,
        currency: 'USD',
      },
    });
    const quote = ok(response, 201);
    expect((await execute(quote.id)).status).toBe('COMPLETED');
    const otherInternalAccount = await findInternalAccount(app, receiver.id, 'USD');
    expect((await readBalances(app, otherInternalAccount.id)).balance).toBe(100_00);
  });
});

describe('quote to a UMA address', () => {
  it.each<[string, number, string]>([
    ['payment.unsupported-uma-version', 412, 'UNSUPPORTED_UMA_VERSION'],
    ['payment.no-compatible-uma-version', 424, 'NO_COMPATIBLE_UMA_VERSION'],
    ['payreq-request-failed', 424, 'PAYREQ_REQUEST_FAILED'],
    ['sender-not-accepted', 400, 'SENDER_NOT_ACCEPTED'],
  ])('returns the error of the counterparty: %s', async (name, status, code) => {
    const { response } = await createQuote(`$error.${name}@${HOST}`);
    expect([response.status, response.body.code]).toEqual([status, code]);
  });

  it.each([
    ['payreq-request-failed', undefined],
    ['payment.no-compatible-uma-version', undefined],
    ['quote-request-failed', undefined],
    ['sender-not-accepted', 'true'],
  ])('is retried with the same key unless the error is final: %s', async (name, replayedHeader) => {
    const { body } = await createQuote(`$error.${name}@${HOST}`);
    const headers = { 'idempotency-key': `again ${name}` };
    const firstResponse = await app.call('POST', '/quotes', body, { headers });
    const secondResponse = await app.call('POST', '/quotes', body, { headers });
    expect([secondResponse.status, secondResponse.body]).toEqual([
      firstResponse.status,
      firstResponse.body,
    ]);
    expect(secondResponse.headers['idempotency-replayed']).toBe(replayedHeader);
  });

  const errorOf = (response: { status: number; body: { code: string } }) => [
    response.status,
    response.body.code,
  ];

  it('requires a payee discovery of the same address', async () => {
    const { body } = await createQuote(`$success.usd@${HOST}`);
    const requestQuote = (overrides: object) =>
      app.call('POST', '/quotes', { ...body, ...overrides });
    expect(errorOf(await requestQuote({ lookupId: undefined }))).toEqual([
      400,
      'MISSING_REQUIRED_UMA_PARAMETERS',
    ]);
    const unknownLookupId = 'Lookup:00000000-0000-7000-8000-000000000000';
    expect(errorOf(await requestQuote({ lookupId: unknownLookupId }))).toEqual([
      404,
      'LOOKUP_REQUEST_NOT_FOUND',
    ]);
    const umaDestination = (umaAddress: string, currency?: string) => ({
      destination: { destinationType: 'UMA_ADDRESS', umaAddress, currency },
    });
    expect(errorOf(await requestQuote(umaDestination('ada')))).toEqual([
      400,
      'INVALID_UMA_ADDRESS',
    ]);
    expect(errorOf(await requestQuote(umaDestination(`$success.eur@${HOST}`)))).toEqual([
      400,
      'INVALID_INPUT',
    ]);
    expect(errorOf(await requestQuote(umaDestination(`$success.usd@${HOST}`, 'JPY')))).toEqual([
      400,
      'INVALID_CURRENCY',
    ]);
    expect(errorOf(await requestQuote({ lockedCurrencyAmount: 8_000_000_000_000_000 }))).toEqual([
      400,
      'AMOUNT_OUT_OF_RANGE',
    ]);
    await app.advance(11 * 60_000);
    expect(errorOf(await requestQuote({}))).toEqual([404, 'LOOKUP_REQUEST_NOT_FOUND']);
  });
});
