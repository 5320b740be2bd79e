// Realtime funding quotes of customers under SCA. Payment instructions are withheld until the customer has
// authorized the payment. Funds that arrive earlier are not assigned to the payment.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  eventTypes,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import {
  authorize,
  CODE,
  createPhoneVerifiedCustomer,
  createScaPayer,
  type ScaPayer,
} from '../../../../../test/kit/sca/strong-customers.ts';

const app = testApp();
let payer: ScaPayer;
beforeAll(async () => {
  payer = await createScaPayer(app, { eur: 0, usdc: 0 });
});
beforeEach(() => app.advance(60_000));

const MINUTE_MS = 60_000;
const EURO_SOURCE = { currency: 'EUR' };
const USDC_SOURCE = { currency: 'USDC', cryptoNetwork: 'BASE' };

const get = async (path: string) => ok(await app.call('GET', path), 200);
const eventsOf = async (id: string) =>
  (await eventTypes(app, id)).map((type) => type.replace('OUTGOING_PAYMENT.', ''));
const send = (quoteId: string, currencyCode = 'EUR') =>
  app.call('POST', '/sandbox/send', { quoteId, currencyCode });

async function createBody(source: object, customerId = payer.person.id) {
  const target = await createExternalAccount(app, customerId, 'MXN');
  const overrides = { source: { sourceType: 'REALTIME_FUNDING', customerId, ...source } };
  const amount = 'cryptoNetwork' in source ? 100_000_000 : 100_00;
  return { target, body: { ...quoteBody('', target.id, amount), ...overrides } };
}

/** A quote that awaits authorization. */
async function createPendingQuote(
  source: object = EURO_SOURCE,
  headers: Record<string, string> = {},
) {
  const { body } = await createBody(source);
  return ok(await app.call('POST', '/quotes', body, { headers }), 202);
}

async function expectInstructionsWithheld(quote: {
  id: string;
  transactionId: string;
}): Promise<void> {
  expect((await get(`/quotes/${quote.id}`)).paymentInstructions).toEqual([]);
  const payment = await get(`/transactions/${quote.transactionId}`);
  expect(payment).not.toHaveProperty('paymentInstructions');
  const events = (await app.events()).filter(({ subject }) => subject === quote.transactionId);
  expect(events.length).toBeGreaterThan(0);
  for (const { data } of events) expect(data).not.toHaveProperty('paymentInstructions');
}

describe('realtime funding quote', () => {
  it('includes payment instructions after authorization and continues when paid', async () => {
    const quote = await createPendingQuote();
    expect(quote).toMatchObject({
      status: 'PENDING_AUTHORIZATION',
      paymentInstructions: [],
      scaChallenge: {
        factor: 'SMS_OTP',
        purpose: 'PAYOUT',
        expiresAt: new Date(app.effects.now() + 5 * MINUTE_MS).toISOString(),
      },
    });
    await expectInstructionsWithheld(quote);
    expect(await get(`/quotes/${quote.id}`)).toEqual(quote);

    const authorizedQuote = ok(await authorize(app, quote.id), 200);
    expect(authorizedQuote.status).toBe('PENDING');
    expect(authorizedQuote).not.toHaveProperty('scaChallenge');
    const [instruction] = authorizedQuote.paymentInstructions;
    expect(instruction.accountOrWalletInfo).toMatchObject({ accountType: 'EUR_ACCOUNT' });
    expect(await get(`/quotes/${quote.id}`)).toEqual(authorizedQuote);
    expect((await get(`/transactions/${quote.transactionId}`)).paymentInstructions).toEqual(
      authorizedQuote.paymentInstructions,
    );
    expect(await eventsOf(quote.transactionId)).toEqual(['PENDING_AUTHORIZATION']);

    ok(await send(quote.id), 200);
    await app.advance(10 * MINUTE_MS);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('COMPLETED');
    expect(await eventsOf(quote.transactionId)).toEqual([
      'PENDING_AUTHORIZATION',
      'PENDING',
      'PROCESSING',
      'COMPLETED',
    ]);
  });

  it('returns euros and credits USDC that arrive before authorization', async () => {
    const euroQuote = await createPendingQuote();
    const returnedDeposit = ok(await send(euroQuote.id), 200);
    expect(returnedDeposit).toMatchObject({ type: 'INCOMING', status: 'FAILED' });
    expect(returnedDeposit.id).not.toBe(euroQuote.transactionId);

    await app.advance(MINUTE_MS);
    const usdcQuote = await createPendingQuote(USDC_SOURCE);
    const creditedDeposit = ok(await send(usdcQuote.id, 'USDC'), 200);
    expect(creditedDeposit.type).toBe('INCOMING');
    await app.settle();
    expect((await readBalances(app, payer.usdc.id)).total).toBe(100_000_000);

    for (const { id } of [euroQuote, usdcQuote]) {
      expect((await get(`/quotes/${id}`)).status).toBe('PENDING_AUTHORIZATION');
      expect(ok(await authorize(app, id), 200).status).toBe('PENDING');
    }
  });

  it('fails without authorization and never includes payment instructions', async () => {
    const quote = await createPendingQuote();
    await app.advance(5 * MINUTE_MS - 1);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('PENDING_AUTHORIZATION');
    await app.advance(1);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('FAILED');
    expect(await get(`/transactions/${quote.transactionId}`)).toMatchObject({
      status: 'FAILED',
      failureReason: 'SCA_NOT_COMPLETED',
    });
    await expectInstructionsWithheld(quote);
    expect(await eventsOf(quote.transactionId)).toEqual(['PENDING_AUTHORIZATION', 'FAILED']);
    const lateResponse = await authorize(app, quote.id);
    expect([lateResponse.status, lateResponse.body.code]).toEqual([409, 'CONFLICT']);
    const unmatchedDeposit = ok(await send(quote.id), 200);
    expect(unmatchedDeposit.type).toBe('INCOMING');
  });

  it('expires if it is authorized but not paid', async () => {
    const quote = await createPendingQuote();
    ok(await authorize(app, quote.id), 200);
    await app.advance(15 * MINUTE_MS);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('EXPIRED');
    expect(await eventsOf(quote.transactionId)).toEqual(['PENDING_AUTHORIZATION', 'EXPIRED']);
  });

  it('has a challenge that expires with the quote, and can expire after authorization', async () => {
    const quote = await createPendingQuote({ currency: 'USDC', cryptoNetwork: 'BASE' });
    expect(quote.scaChallenge.expiresAt).toBe(quote.expiresAt);
    // Skips the expiry sweep, as after an earlier run in another process.
    app.effects.set(Date.parse(quote.expiresAt) - 1);
    ok(await authorize(app, quote.id), 200);
    await app.advance(1);
    expect((await get(`/transactions/${quote.transactionId}`)).status).toBe('EXPIRED');
    expect(await eventsOf(quote.transactionId)).toEqual(['PENDING_AUTHORIZATION', 'EXPIRED']);
  });

  it('is payable immediately for a trusted beneficiary', async () => {
    const { target, body } = await createBody(EURO_SOURCE);
    const path = `/customers/external-accounts/${target.id}/trust`;
    ok(await app.call('POST', path), 200);
    ok(await app.call('POST', `${path}/confirm`, { code: CODE }), 200);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    expect(quote.status).toBe('PENDING');
    expect(quote.paymentInstructions).toHaveLength(1);
  });

  it('cannot be executed, before or after authorization', async () => {
    const { id } = await createPendingQuote();
    for (const isAuthorized of [false, true]) {
      if (isAuthorized) ok(await authorize(app, id), 200);
      const { status, body } = await app.call('POST', `/quotes/${id}/execute`);
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    }
  });

  it('is created once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'one-quote-in-the-region' };
    const { body } = await createBody(EURO_SOURCE);
    const requestQuote = () => app.call('POST', '/quotes', body, { headers });
    const firstQuote = ok(await requestQuote(), 202);
    ok(await authorize(app, firstQuote.id), 200);
    expect(ok(await requestQuote(), 202)).toEqual(firstQuote);
    expect(await eventsOf(firstQuote.transactionId)).toEqual(['PENDING_AUTHORIZATION']);
  });

  it('requires a session and an enrolled factor that supports dynamic linking', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    const { body } = await createBody(EURO_SOURCE, person.id);
    const rejectedResponse = await app.call('POST', '/quotes', body);
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([
      409,
      'SCA_SESSION_REQUIRED',
    ]);
    const euroRequest = await createBody(EURO_SOURCE);
    for (const scaFactor of ['TOTP', 'PASSKEY']) {
      const response = await app.call('POST', '/quotes', { ...euroRequest.body, scaFactor });
      expect(response.status).toBe(400);
      expect(response.body.details.errors).toMatchObject([{ field: 'scaFactor' }]);
    }
    const transactionsOfCustomer = await app.runtime.db.query(
      'select id from transactions where customer_id = $1 or destination_account = $2',
      [person.id, euroRequest.target.id],
    );
    expect(transactionsOfCustomer).toEqual([]);
  });
});
