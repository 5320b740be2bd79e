// Payments that the customer authorizes: factors, steps, events and the time of the posting.
// Payments that need no authorization.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
import { createEuropeanCustomer, messagesTo } from '../../../../../test/kit/customers/contacts.ts';
import {
  authorize,
  CODE,
  createPhoneVerifiedCustomer,
  createQuotedPayout,
  createScaPayer,
  execute,
  logIn,
  type ScaPayer,
} from '../../../../../test/kit/sca/strong-customers.ts';
import { platforms } from '../../../tenancy/platform/store.ts';

const app = testApp();
let payer: ScaPayer;
beforeAll(async () => {
  payer = await createScaPayer(app);
});
// Allows another code to the same customer.
beforeEach(() => app.advance(60_000));

const MINUTE_MS = 60_000;

const get = async (path: string) => ok(await app.call('GET', path), 200);
const eventsOf = async (id: string) =>
  (await eventTypes(app, id)).map((type) => type.replace('OUTGOING_PAYMENT.', ''));

const setTwoSteps = (isEnabled: boolean) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(platforms, app.platform.id);
    if (row) ctx.update(platforms, row, { sca_two_steps: isEnabled });
  });

/**
 * Events of the payment (`PENDING`) and of its source account (available of total balance,
 * `900 of 1000`), in order.
 */
async function readTimeline(transactionId: string, accountId: string): Promise<string[]> {
  const emittedEvents = await app.events();
  const firstIndex = emittedEvents.findIndex((each) => each.subject === transactionId);
  return emittedEvents.slice(firstIndex).flatMap(({ type, subject, balance, held }) => {
    if (subject === transactionId) return [type.replace('OUTGOING_PAYMENT.', '')];
    if (subject !== accountId) return [];
    return [`${Number((balance as bigint) - (held as bigint)) / 100} of ${Number(balance) / 100}`];
  });
}

describe('payout of euros', () => {
  it('awaits the code before the funds are held', async () => {
    const ownPayer = await createScaPayer(app, { usdc: 0 });
    const { quote, target } = await createQuotedPayout(app, ownPayer);
    expect(quote).toMatchObject({ status: 'PENDING' });
    expect(quote.scaChallenge).toBeUndefined();

    const pendingBody = ok(await execute(app, quote.id), 200);
    expect(pendingBody.status).toBe('PENDING_AUTHORIZATION');
    expect(pendingBody.scaChallenge).toEqual({
      id: expect.stringMatching(/^ScaChallenge:/),
      expiresAt: new Date(app.effects.now() + 5 * MINUTE_MS).toISOString(),
      factor: 'SMS_OTP',
      availableFactors: ['SMS_OTP'],
      purpose: 'PAYOUT',
    });
    expect(await get(`/quotes/${quote.id}`)).toEqual(pendingBody);
    expect((await get(`/transactions/${quote.transactionId}`)).status).toBe(
      'PENDING_AUTHORIZATION',
    );
    const fullBalance = { balance: 1_000_00, total: 1_000_00 };
    expect(await readBalances(app, ownPayer.eur.id)).toEqual(fullBalance);
    const { text } = (await messagesTo(app, ownPayer.person.id)).at(-1) as { text: string };
    const { iban } = target.accountInfo;
    expect(text).toContain(CODE);
    expect(text).toContain(`100.00 EUR to ${iban.slice(0, 4)}…${iban.slice(-4)}`);
    const secondResponse = await execute(app, quote.id);
    expect([secondResponse.status, secondResponse.body.code]).toEqual([409, 'CONFLICT']);

    const result = ok(await authorize(app, quote.id), 200);
    expect(result.status).toBe('PROCESSING');
    expect(result.scaChallenge).toBeUndefined();
    expect(await readBalances(app, ownPayer.eur.id)).toEqual({ balance: 900_00, total: 1_000_00 });
    await app.advance(10 * MINUTE_MS);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('COMPLETED');
    expect(await readTimeline(quote.transactionId, ownPayer.eur.id)).toEqual([
      'PENDING',
      'PENDING_AUTHORIZATION',
      '900 of 1000',
      'PROCESSING',
      '900 of 900',
      'COMPLETED',
    ]);
    const repeatedResponse = await authorize(app, quote.id);
    expect([repeatedResponse.status, repeatedResponse.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('keeps its price while it awaits the code, after the quote expires', async () => {
    const { quote } = await createQuotedPayout(app, payer);
    const remainingMs = Date.parse(quote.expiresAt) - app.effects.now();
    await app.advance(remainingMs - 1_000);
    const pendingBody = ok(await execute(app, quote.id), 200);
    await app.advance(2 * MINUTE_MS);
    expect(app.effects.now()).toBeGreaterThan(Date.parse(quote.expiresAt));
    expect((await get(`/quotes/${quote.id}`)).status).toBe('PENDING_AUTHORIZATION');
    const result = ok(await authorize(app, quote.id), 200);
    expect(result).toMatchObject({
      status: 'PROCESSING',
      totalReceivingAmount: pendingBody.totalReceivingAmount,
    });
  });

  it('is executed immediately after the code', async () => {
    const target = await createExternalAccount(app, payer.person.id, 'EUR');
    const immediateOverrides = { immediatelyExecute: true };
    const body = quoteBody(payer.eur.id, target.id, 10_00, immediateOverrides);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    expect(quote).toMatchObject({
      status: 'PENDING_AUTHORIZATION',
      scaChallenge: { purpose: 'PAYOUT', factor: 'SMS_OTP' },
    });
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
    expect(await eventsOf(quote.transactionId)).toEqual([
      'PENDING',
      'PENDING_AUTHORIZATION',
      'PROCESSING',
    ]);
  });

  it('is authorized by the customer on whose behalf a platform account pays', async () => {
    const platformAccount = await findInternalAccount(app, null, 'EUR');
    await fundAccount(app, platformAccount.id, 500_00);
    const { id: customerId } = payer.person;
    const target = await createExternalAccount(app, customerId, 'EUR');
    const body = quoteBody(platformAccount.id, target.id, 10_00);
    const customerBody = { ...body, source: { ...body.source, customerId } };
    const quote = ok(await app.call('POST', '/quotes', customerBody), 201);
    expect(ok(await execute(app, quote.id), 200).status).toBe('PENDING_AUTHORIZATION');
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');

    const plainQuote = ok(await app.call('POST', '/quotes', body), 201);
    expect(ok(await execute(app, plainQuote.id), 200).status).toBe('PROCESSING');
  });
});

describe('authorization steps', () => {
  const createConversionQuote = () =>
    createQuotedPayout(app, payer, { currency: 'USD', from: payer.usdc.id, amount: 10_000_000 });

  it('include the conversion and the payout if the platform enables two steps', async () => {
    await setTwoSteps(true);
    const { quote } = await createConversionQuote();
    const balancesBefore = await readBalances(app, payer.usdc.id);
    const firstScaChallenge = ok(await execute(app, quote.id), 200).scaChallenge;
    expect(firstScaChallenge.purpose).toBe('CURRENCY_CONVERSION');
    // A change of the setting applies to later payments.
    await setTwoSteps(false);
    const firstAuthorizedBody = ok(await authorize(app, quote.id), 200);
    expect(firstAuthorizedBody).toMatchObject({
      status: 'PENDING_AUTHORIZATION',
      scaChallenge: { purpose: 'PAYOUT', factor: 'SMS_OTP' },
    });
    expect(firstAuthorizedBody.scaChallenge.id).not.toBe(firstScaChallenge.id);
    expect(await get(`/quotes/${quote.id}`)).toEqual(firstAuthorizedBody);
    expect(await readBalances(app, payer.usdc.id)).toEqual(balancesBefore);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
    await app.advance(10 * MINUTE_MS);
    expect(await eventsOf(quote.transactionId)).toEqual([
      'PENDING',
      'PENDING_AUTHORIZATION',
      'PENDING_AUTHORIZATION',
      'PROCESSING',
      'COMPLETED',
    ]);
    const texts = (await messagesTo(app, payer.person.id)).slice(-2).map(({ text }) => text);
    for (const text of texts) expect(text).toContain(`10.000000 USDC as `);
  });

  it('include only the payout if two steps are disabled', async () => {
    const { quote } = await createConversionQuote();
    expect(ok(await execute(app, quote.id), 200).scaChallenge.purpose).toBe('PAYOUT');
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
  });

  it('have the purpose of the payment between internal accounts', async () => {
    const payee = await createCustomer(app);
    const otherInternalAccount = await findInternalAccount(app, payee.id, 'EUR');
    const createQuoteTo = async (id: string) =>
      ok(await app.call('POST', '/quotes', quoteBody(payer.eur.id, id, 10_00)), 201);
    const transfer = await createQuoteTo(otherInternalAccount.id);
    expect(ok(await execute(app, transfer.id), 200).scaChallenge.purpose).toBe('TRANSFER');
    expect(ok(await authorize(app, transfer.id), 200).status).toBe('COMPLETED');
    expect(await eventsOf(transfer.transactionId)).toEqual([
      'PENDING',
      'PENDING_AUTHORIZATION',
      'PROCESSING',
      'COMPLETED',
    ]);
    expect((await readBalances(app, otherInternalAccount.id)).total).toBe(10_00);
    await app.advance(MINUTE_MS);
    const conversionQuote = await createQuoteTo(payer.usdc.id);
    const { purpose } = ok(await execute(app, conversionQuote.id), 200).scaChallenge;
    expect(purpose).toBe('CURRENCY_CONVERSION');
    expect(ok(await authorize(app, conversionQuote.id), 200).status).toBe('COMPLETED');
    const texts = (await messagesTo(app, payer.person.id)).slice(-2).map(({ text }) => text);
    expect(texts[0]).toContain(`10.00 EUR to account …${otherInternalAccount.id.slice(-6)}`);
    expect(texts[1]).toContain(' to your USDC account');
  });
});

describe('external UMA address', () => {
  it('is paid in one step, and is named in the message', async () => {
    const umaAddress = '$success.eur@sandbox.uma.money';
    const { id: customerId } = payer.person;
    const encodedAddress = encodeURIComponent(umaAddress);
    const discovery = await app.call(
      'GET',
      `/receiver/uma/${encodedAddress}?customerId=${customerId}`,
    );
    const { lookupId } = ok(discovery, 200);
    const body = {
      ...quoteBody(payer.eur.id, '', 10_00, { lookupId }),
      destination: { destinationType: 'UMA_ADDRESS', umaAddress },
      senderCustomerInfo: {
        FULL_NAME: 'Ada Lovelace',
        BIRTH_DATE: '1990-01-15',
        NATIONALITY: 'DE',
      },
    };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    expect(ok(await execute(app, quote.id), 200).scaChallenge.purpose).toBe('PAYOUT');
    const { text } = (await messagesTo(app, customerId)).at(-1) as { text: string };
    expect(text).toContain(`10.00 EUR to ${umaAddress}`);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
    await app.advance(10 * MINUTE_MS);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('COMPLETED');
  });
});

describe('trusted beneficiary', () => {
  it('is paid with a session and without a proof until trust is removed', async () => {
    const { quote, target } = await createQuotedPayout(app, payer);
    const path = `/customers/external-accounts/${target.id}`;
    const changeTrust = async (action: string) => {
      ok(await app.call('POST', `${path}/${action}`), 200);
      return ok(await app.call('POST', `${path}/${action}/confirm`, { code: CODE }), 200);
    };
    expect(await changeTrust('trust')).toEqual({ trusted: true });
    const paidBody = ok(await execute(app, quote.id), 200);
    expect(paidBody.status).toBe('PROCESSING');
    expect(await eventsOf(quote.transactionId)).toEqual(['PENDING', 'PROCESSING']);
    const body = quoteBody('', target.id, 10_00);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'EUR', customerId: payer.person.id };
    const realtimeQuote = ok(await app.call('POST', '/quotes', { ...body, source }), 201);
    await app.advance(MINUTE_MS);
    await changeTrust('untrust');
    // The exemption was decided at creation of the quote.
    const fundingBody = { quoteId: realtimeQuote.id, currencyCode: 'EUR' };
    ok(await app.call('POST', '/sandbox/send', fundingBody), 200);
    expect((await get(`/quotes/${realtimeQuote.id}`)).status).toBe('PROCESSING');
    const nextQuote = ok(
      await app.call('POST', '/quotes', quoteBody(payer.eur.id, target.id, 10_00)),
      201,
    );
    await app.advance(MINUTE_MS);
    expect(ok(await execute(app, nextQuote.id), 200).status).toBe('PENDING_AUTHORIZATION');
    ok(await authorize(app, nextQuote.id), 200);
  });

  it('requires a session', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    const account = await findInternalAccount(app, person.id, 'EUR');
    await fundAccount(app, account.id, 100_00);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const path = `/customers/external-accounts/${target.id}/trust`;
    ok(await app.call('POST', path), 200);
    ok(await app.call('POST', `${path}/confirm`, { code: CODE }), 200);
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, target.id, 10_00)),
      201,
    );
    const { status, body } = await execute(app, quote.id);
    expect([status, body.code]).toEqual([409, 'SCA_SESSION_REQUIRED']);
    await logIn(app, person.id);
    expect(ok(await execute(app, quote.id), 200).status).toBe('PROCESSING');
  });
});

describe('authorization', () => {
  it('is omitted for dollars and for customers outside the EEA', async () => {
    const dollarAccount = await findInternalAccount(app, payer.person.id, 'USD');
    await fundAccount(app, dollarAccount.id, 100_00);
    const plainPayout = await createQuotedPayout(app, payer, {
      from: dollarAccount.id,
      currency: 'USD',
    });
    expect(ok(await execute(app, plainPayout.quote.id, { scaFactor: 'TOTP' }), 200).status).toBe(
      'PROCESSING',
    );

    const customerAbroad = await createCustomer(app);
    const euroAccount = await findInternalAccount(app, customerAbroad.id, 'EUR');
    await fundAccount(app, euroAccount.id, 100_00);
    const target = await createExternalAccount(app, customerAbroad.id, 'EUR');
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(euroAccount.id, target.id, 10_00)),
      201,
    );
    for (const path of ['authorize', 'authorize/resend']) {
      const body = path === 'authorize' ? { code: CODE } : undefined;
      const response = await app.call('POST', `/quotes/${quote.id}/${path}`, body);
      expect([response.status, response.body.code]).toEqual([409, 'CONFLICT']);
    }
    expect(ok(await execute(app, quote.id), 200).status).toBe('PROCESSING');
  });

  it('is rejected without a session and a verified phone number', async () => {
    const person = await createEuropeanCustomer(app);
    const account = await findInternalAccount(app, person.id, 'EUR');
    await fundAccount(app, account.id, 100_00);
    const target = await createExternalAccount(app, person.id, 'EUR');
    const quoteResponse = await app.call(
      'POST',
      '/quotes',
      quoteBody(account.id, target.id, 10_00),
    );
    const { id } = ok(quoteResponse, 201);
    const { status, body } = await execute(app, id);
    expect([status, body.code]).toEqual([409, 'SCA_SESSION_REQUIRED']);
  });
});
