// Rejected authorizations: wrong and late proofs, lockouts, missing sessions, limits and insufficient
// funds. No funds are posted, and a challenge that can be retried is unchanged.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../../test/kit/customers/contacts.ts';
import {
  authorize,
  CODE,
  createQuotedPayout,
  createScaPayer,
  execute,
  logIn,
  ORIGIN,
  resend,
} from '../../../../../test/kit/sca/strong-customers.ts';
import { scaChallenges } from '../../../sca/authentication/store.ts';
import { scaEvents } from '../../../sca/events/events.ts';
import { scaLockouts } from '../../../sca/lockout/lockout.ts';
import { platforms } from '../../../tenancy/platform/store.ts';

const app = testApp();
beforeEach(() => app.advance(60_000));

const MINUTE_MS = 60_000;
const WRONG_CODE = { code: '654321' };

const get = async (path: string) => ok(await app.call('GET', path), 200);
const codeOf = ({ status, body }: ApiResponse) => [status, body.code];
const fieldsOf = ({ status, body }: ApiResponse) => [
  status,
  body.details?.errors?.map(({ field }: { field: string }) => field),
];

/** A payout that awaits its code, of a customer with this balance. */
async function createPendingQuote(amount = 100_00, eur = 1_000_00) {
  const payer = await createScaPayer(app, { eur, usdc: 0 });
  const { quote, target } = await createQuotedPayout(app, payer, { amount });
  const { scaChallenge } = ok(await execute(app, quote.id), 200);
  return { payer, quote, target, challenge: scaChallenge };
}

const countFailedAttempts = async (customerId: string) =>
  (await app.runtime.db.read(scaLockouts, customerId))?.failed_attempts ?? 0;

describe('authorizeQuote', () => {
  describe('proof', () => {
    it('is rejected and counted if wrong, and is accepted once it is correct', async () => {
      const { payer, quote, challenge } = await createPendingQuote();
      expect(fieldsOf(await authorize(app, quote.id, WRONG_CODE))).toEqual([400, ['code']]);
      expect(await countFailedAttempts(payer.person.id)).toBe(1);
      expect((await get(`/quotes/${quote.id}`)).scaChallenge).toEqual(challenge);
      expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
      expect(await countFailedAttempts(payer.person.id)).toBe(1);
      const scaEventRows = await app.runtime.db.find(scaEvents, {
        customer_id: payer.person.id,
      });
      expect(scaEventRows.filter(({ subject }) => subject === quote.id)).toMatchObject([
        { type: 'AUTHORIZE_FAILED', factor: 'SMS_OTP' },
        { type: 'AUTHORIZED', factor: 'SMS_OTP' },
      ]);
    });

    it('must be of one kind and complete', async () => {
      const { payer, quote } = await createPendingQuote();
      const passkeyAssertion = { id: 'x', response: {} };
      const invalidProofs: [object, string[]][] = [
        [{}, ['code']],
        [{ code: null }, ['code']],
        [{ passkeyAssertion }, ['code', 'passkeyAssertion']],
        [{ code: CODE, passkeyAssertion }, ['passkeyAssertion']],
        [{ code: CODE, passkeyAssertion, origin: ORIGIN }, ['passkeyAssertion']],
      ];
      for (const [proof, fields] of invalidProofs) {
        expect(fieldsOf(await authorize(app, quote.id, proof))).toEqual([400, fields]);
      }
      expect(await countFailedAttempts(payer.person.id)).toBe(0);
      ok(await authorize(app, quote.id), 200);
    });

    it('may have a valid IP address or null', async () => {
      const { payer, quote } = await createPendingQuote();
      const authorizeFrom = (endUserIpAddress: string | null) =>
        authorize(app, quote.id, { code: CODE, endUserIpAddress });
      for (const invalidAddress of ['nowhere', '203.0.113', '1']) {
        expect(fieldsOf(await authorizeFrom(invalidAddress))).toEqual([400, ['endUserIpAddress']]);
      }
      expect(await countFailedAttempts(payer.person.id)).toBe(0);
      expect(ok(await authorizeFrom(null), 200).status).toBe('PROCESSING');
    });

    it('is rejected after expiry, and the payment fails without a posting', async () => {
      const { payer, quote, challenge } = await createPendingQuote();
      app.effects.set(Date.parse(challenge.expiresAt));
      expect(codeOf(await authorize(app, quote.id))).toEqual([400, 'INVALID_INPUT']);
      expect(codeOf(await resend(app, quote.id))).toEqual([409, 'CONFLICT']);
      await app.settle();
      expect(await get(`/transactions/${quote.transactionId}`)).toMatchObject({
        status: 'FAILED',
        failureReason: 'SCA_NOT_COMPLETED',
      });
      expect((await get(`/quotes/${quote.id}`)).status).toBe('FAILED');
      expect(codeOf(await authorize(app, quote.id))).toEqual([409, 'CONFLICT']);
      expect(codeOf(await resend(app, quote.id))).toEqual([409, 'CONFLICT']);
      const fullBalance = { balance: 1_000_00, total: 1_000_00 };
      expect(await readBalances(app, payer.eur.id)).toEqual(fullBalance);
      const events = (await app.events()).filter(({ subject }) => subject === quote.transactionId);
      expect(events.map(({ type, data }) => [type, data.status])).toEqual([
        ['OUTGOING_PAYMENT.PENDING', 'PENDING'],
        ['OUTGOING_PAYMENT.PENDING_AUTHORIZATION', 'PENDING_AUTHORIZATION'],
        ['OUTGOING_PAYMENT.FAILED', 'FAILED'],
      ]);
      expect((await app.runtime.db.read(scaChallenges, challenge.id))?.status).toBe('EXPIRED');
    });

    it('requires an enrolled factor that supports dynamic linking', async () => {
      const payer = await createScaPayer(app, { usdc: 0 });
      const { quote } = await createQuotedPayout(app, payer);
      for (const scaFactor of ['TOTP', 'PASSKEY']) {
        expect(fieldsOf(await execute(app, quote.id, { scaFactor }))).toEqual([400, ['scaFactor']]);
      }
      expect((await get(`/quotes/${quote.id}`)).status).toBe('PENDING');
      ok(await execute(app, quote.id, { scaFactor: 'SMS_OTP' }), 200);
    });

    it('is rejected for quotes of other platforms and quotes without a challenge', async () => {
      const { payer, quote } = await createPendingQuote();
      const unknownQuoteId = 'Quote:00000000-0000-7000-8000-000000000000';
      for (const [id, platform] of [
        [quote.id, app.other],
        [unknownQuoteId, app.platform],
        ['nonsense', app.platform],
      ] as const) {
        const responses = [
          await authorize(app, id, { code: CODE }, { platform }),
          await resend(app, id, { platform }),
        ];
        for (const response of responses)
          expect(codeOf(response)).toEqual([404, 'QUOTE_NOT_FOUND']);
      }
      await app.advance(MINUTE_MS);
      const otherPayout = await createQuotedPayout(app, payer);
      expect(codeOf(await authorize(app, otherPayout.quote.id))).toEqual([409, 'CONFLICT']);
      expect(codeOf(await resend(app, otherPayout.quote.id))).toEqual([409, 'CONFLICT']);
    });

    it('requires the permission to transact', async () => {
      const { quote } = await createPendingQuote();
      const callerToken = await app.tokenWith(['VIEW', 'MANAGE']);
      expect(
        codeOf(await authorize(app, quote.id, { code: CODE }, { platform: callerToken })),
      ).toEqual([403, 'FORBIDDEN']);
      expect(codeOf(await resend(app, quote.id, { platform: callerToken }))).toEqual([
        403,
        'FORBIDDEN',
      ]);
    });
  });
});

describe('locked customer', () => {
  it('cannot authorize after five wrong codes until the lockout expires', async () => {
    const { payer, quote } = await createPendingQuote();
    for (let index = 0; index < 5; index++) {
      expect(fieldsOf(await authorize(app, quote.id, WRONG_CODE))).toEqual([400, ['code']]);
    }
    const lockedUntil = new Date(app.effects.now() + 15 * MINUTE_MS).toISOString();
    const lockedResponse = await authorize(app, quote.id);
    expect(codeOf(lockedResponse)).toEqual([423, 'ACCOUNT_LOCKED']);
    expect(lockedResponse.body.details).toEqual({
      suspended: false,
      lockedUntil,
      failedAttempts: 5,
    });
    expect(await countFailedAttempts(payer.person.id)).toBe(5);
    await app.advance(15 * MINUTE_MS);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('FAILED');
    const nextPayout = await createQuotedPayout(app, payer);
    ok(await execute(app, nextPayout.quote.id), 200);
    expect(ok(await authorize(app, nextPayout.quote.id), 200).status).toBe('PROCESSING');
  });

  it('starts no authorization and receives no code', async () => {
    const payer = await createScaPayer(app, { usdc: 0 });
    const { quote, target } = await createQuotedPayout(app, payer);
    const failedLogin = { eventType: 'FAILED_LOGIN_ATTEMPT' };
    for (let index = 0; index < 5; index++) {
      ok(
        await app.call('POST', `/sca/record-event?customerId=${payer.person.id}`, failedLogin),
        200,
      );
    }
    const messageCountBefore = (await messagesTo(app, payer.person.id)).length;
    const body = quoteBody(payer.eur.id, target.id, 10_00);
    const realtimeSource = {
      sourceType: 'REALTIME_FUNDING',
      currency: 'EUR',
      customerId: payer.person.id,
    };
    for (const response of [
      await execute(app, quote.id),
      await app.call('POST', '/quotes', { ...body, immediatelyExecute: true }),
      await app.call('POST', '/quotes', { ...body, source: realtimeSource }),
    ]) {
      expect(codeOf(response)).toEqual([423, 'ACCOUNT_LOCKED']);
    }
    expect((await messagesTo(app, payer.person.id)).length).toBe(messageCountBefore);
    expect((await get(`/quotes/${quote.id}`)).status).toBe('PENDING');
  });

  it('cannot use a challenge with five failures after the lockout is cleared', async () => {
    const { payer, quote } = await createPendingQuote();
    for (let index = 0; index < 5; index++) await authorize(app, quote.id, WRONG_CODE);
    const eventType = 'RESET_PASSWORD_COMPLETED';
    ok(
      await app.call('POST', `/sca/record-event?customerId=${payer.person.id}`, { eventType }),
      200,
    );
    expect(codeOf(await authorize(app, quote.id))).toEqual([409, 'SCA_SESSION_REQUIRED']);
    await logIn(app, payer.person.id);
    const limitedReply = await authorize(app, quote.id);
    expect(codeOf(limitedReply)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(limitedReply.headers['retry-after'])).toBe(5 * 60);
  });
});

describe('session', () => {
  it('is required for execution, immediate execution and authorization', async () => {
    const { payer, quote, target } = await createPendingQuote();
    const eventType = 'RESET_PASSWORD_COMPLETED';
    const path = `/sca/record-event?customerId=${payer.person.id}`;
    ok(await app.call('POST', path, { eventType }), 200);
    const expectedError = [409, 'SCA_SESSION_REQUIRED'];
    expect(codeOf(await authorize(app, quote.id))).toEqual(expectedError);
    const nextPayout = await createQuotedPayout(app, payer);
    expect(codeOf(await execute(app, nextPayout.quote.id))).toEqual(expectedError);
    const body = quoteBody(payer.eur.id, target.id, 10_00, { immediatelyExecute: true });
    expect(codeOf(await app.call('POST', '/quotes', body))).toEqual(expectedError);
    await logIn(app, payer.person.id);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
  });
});

describe('insufficient balance', () => {
  it('is reported before a code is sent', async () => {
    const payer = await createScaPayer(app, { eur: 50_00, usdc: 0 });
    const { quote } = await createQuotedPayout(app, payer);
    const messageCountBefore = (await messagesTo(app, payer.person.id)).length;
    expect(codeOf(await execute(app, quote.id))).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect((await messagesTo(app, payer.person.id)).length).toBe(messageCountBefore);
    await fundAccount(app, payer.eur.id, 50_00);
    expect(ok(await execute(app, quote.id), 200).status).toBe('PENDING_AUTHORIZATION');
    ok(await authorize(app, quote.id), 200);
    expect(await readBalances(app, payer.eur.id)).toEqual({ balance: 0, total: 100_00 });
  });

  it('leaves the challenge and its code unchanged on authorization', async () => {
    const { payer, quote, challenge } = await createPendingQuote(100_00, 100_00);
    await app.advance(MINUTE_MS);
    const otherPayout = await createQuotedPayout(app, payer, { amount: 60_00 });
    ok(await execute(app, otherPayout.quote.id), 200);
    ok(await authorize(app, otherPayout.quote.id), 200);
    expect(codeOf(await authorize(app, quote.id))).toEqual([400, 'INSUFFICIENT_FUNDS']);
    expect((await get(`/quotes/${quote.id}`)).scaChallenge).toEqual(challenge);
    expect(await countFailedAttempts(payer.person.id)).toBe(0);
    await fundAccount(app, payer.eur.id, 60_00);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
  });
});

describe('authorization', () => {
  it('is rejected over the daily limit', async () => {
    const { payer, quote } = await createPendingQuote();
    const setDailyLimit = (perDay: number | undefined) =>
      app.operate(async (ctx) => {
        const row = await ctx.read(platforms, app.platform.id);
        const limits = perDay === undefined ? [] : [{ currency: 'EUR', perDay }];
        if (row) ctx.update(platforms, row, { limits });
      });
    await setDailyLimit(10_00);
    const limitResponse = await authorize(app, quote.id);
    expect(codeOf(limitResponse)).toEqual([429, 'DAILY_VOLUME_LIMIT_EXCEEDED']);
    expect(await readBalances(app, payer.eur.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    await setDailyLimit(undefined);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
  });

  it('is rejected for a deleted receiver and a payer who is no longer approved', async () => {
    const payer = await createScaPayer(app, { usdc: 0 });
    const payee = await createScaPayer(app, { eur: 0, usdc: 0 });
    const body = quoteBody(payer.eur.id, payee.eur.id, 10_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    ok(await execute(app, quote.id), 200);
    ok(await app.call('DELETE', `/customers/${payee.person.id}`), 200);
    expect(codeOf(await authorize(app, quote.id))).toEqual([410, 'CUSTOMER_DELETED']);

    const rejectedPayerPayment = await createPendingQuote();
    // Bypasses the lifecycle, in which an approval is final. Payments check the current status.
    await app.runtime.db.query(
      `update customers set status = 'REJECTED', version = version + 1 where id = $1`,
      [rejectedPayerPayment.payer.person.id],
    );
    expect(codeOf(await authorize(app, rejectedPayerPayment.quote.id))).toEqual([
      403,
      'USER_NOT_READY',
    ]);
  });

  it('is rejected for a deleted payer', async () => {
    const payer = await createScaPayer(app, { eur: 100_00, usdc: 0 });
    const target = await createExternalAccount(app, payer.person.id, 'EUR');
    const body = quoteBody(payer.eur.id, target.id, 100_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const { scaChallenge } = ok(await execute(app, quote.id), 200);
    await app.runtime.db.query(
      'update customers set deleted_at = $2, version = version + 1 where id = $1',
      [payer.person.id, new Date(app.effects.now())],
    );
    expect(codeOf(await authorize(app, quote.id))).toEqual([409, 'CONFLICT']);
    expect(await get(`/quotes/${quote.id}`)).not.toHaveProperty('scaChallenge');
    await app.advance(Date.parse(scaChallenge.expiresAt) - app.effects.now());
    expect((await get(`/quotes/${quote.id}`)).status).toBe('FAILED');
  });
});

describe('resendQuoteScaCode', () => {
  it('sends a code after thirty seconds, for the same challenge and expiry', async () => {
    const { payer, quote, challenge } = await createPendingQuote();
    const earlyResponse = await resend(app, quote.id);
    expect(codeOf(earlyResponse)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(earlyResponse.headers['retry-after'])).toBe(30);
    await app.advance(30_000);
    const messageCountBefore = (await messagesTo(app, payer.person.id)).length;
    ok(await resend(app, quote.id), 204);
    const sentMessages = await messagesTo(app, payer.person.id);
    expect(sentMessages.length).toBe(messageCountBefore + 1);
    expect(sentMessages.at(-1)?.text).toContain('100.00 EUR to ');
    expect((await get(`/quotes/${quote.id}`)).scaChallenge).toEqual(challenge);
    expect(ok(await authorize(app, quote.id), 200).status).toBe('PROCESSING');
  });
});
