// Factor resets from the liveness check to the replaced factor, and their rejections.
import { describe, expect, it } from 'vitest';
import { createCustomer, createExternalAccount, ok } from '../../../../../test/kit/app/fixtures.ts';
import type { CallOptions } from '../../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer, messagesTo } from '../../../../../test/kit/customers/contacts.ts';
import { factorFixture } from '../../../../../test/kit/sca/factors.ts';
import {
  loginFixture,
  scaEventsOf,
  statusCodeAndFields,
} from '../../../../../test/kit/sca/login.ts';
import {
  createPhoneVerifiedCustomer,
  logIn,
} from '../../../../../test/kit/sca/strong-customers.ts';
import { walletFixture } from '../../../../../test/kit/wallets/embedded-wallets.ts';
import { digestOf } from '../../../customers/digests/index.ts';
import type { CustomerRow } from '../../../customers/records/index.ts';
import { customers } from '../../../customers/records/store.ts';
import { addCredential } from '../../../wallets/accounts/credentials.ts';
import { findWallet } from '../../../wallets/accounts/wallet.ts';
import { scaLockouts } from '../../lockout/lockout.ts';
import { scaResets } from '../store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const UNKNOWN_ID = 'ScaReset:01980000-0000-7000-8000-000000000000';

const app = testApp();
const factors = factorFixture(app);

type Body = Record<string, unknown>;

const start = (id: string, factor: unknown = 'SMS_OTP', options: CallOptions = {}) =>
  app.call('POST', `/sca/factors/reset?customerId=${id}`, { factor }, options);
const readResetStatus = (id: string, resetId: string, options: CallOptions = {}) =>
  app.call('GET', `/sca/factors/reset/${resetId}?customerId=${id}`, undefined, options);
const complete = (id: string, resetId: string, body?: Body, options: CallOptions = {}) =>
  app.call('POST', `/sca/factors/reset/${resetId}/complete?customerId=${id}`, body, options);
const requestPage = (method: 'GET' | 'POST', url: string) =>
  app.server.inject({ method, url: new URL(url).pathname });

const statusOf = async (id: string, resetId: string) =>
  ok(await readResetStatus(id, resetId), 200).status as string;

const startReset = async (id: string, factor = 'SMS_OTP') => ok(await start(id, factor), 201);

/** A reset whose customer has passed the liveness check. */
async function passLiveness(id: string, factor = 'SMS_OTP'): Promise<string> {
  const { resetId, verificationLink } = await startReset(id, factor);
  expect((await requestPage('POST', verificationLink)).statusCode).toBe(200);
  return resetId;
}

const eventsOf = async (id: string) => (await scaEventsOf(app, id)).map(({ type }) => type);

const rowOf = async (id: string) => (await app.runtime.db.read(customers, id)) as CustomerRow;
const sessionExpiryOf = async (id: string) =>
  (await app.runtime.db.read(scaLockouts, id))?.session_expires_at;

let phoneCount = 0;
/** An unused phone number, in the two parts of the request. */
const createMobile = () => ({ countryCode: '+49', number: `160${5_550_000 + ++phoneCount}` });

describe('a reset of an app', () => {
  it('removes the app, ends the session, and records the enrollment of another app', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    await factors.enrollTotp(id);
    await logIn(app, id);
    expect(await sessionExpiryOf(id)).toEqual(expect.any(Number));
    const { resetId, expiresAt, ...rest } = await startReset(id, 'TOTP');
    expect(resetId).toMatch(/^ScaReset:/);
    expect(expiresAt).toBe(new Date(app.effects.now() + 30 * MINUTE).toISOString());
    expect(rest.verificationLink).toBe(`http://127.0.0.1/reset/${rest.livenessAccessToken}`);
    const expectedReset = {
      ...{ status: 'INITIATED', factor: 'TOTP', enrollmentStatus: null },
      ...{ expiresAt, completedAt: null },
    };
    expect(ok(await readResetStatus(id, resetId), 200)).toEqual(expectedReset);
    expect(ok(await readResetStatus(id, resetId), 200)).toEqual({
      ...expectedReset,
      status: 'LIVENESS_PASSED',
    });
    expect(ok(await readResetStatus(id, resetId), 200)).toEqual({
      ...expectedReset,
      status: 'LIVENESS_PASSED',
    });
    ok(await complete(id, resetId), 204);
    const { factors: remainingFactors } = ok(await factors.listFactors(id), 200);
    expect(remainingFactors).toEqual([{ factor: 'SMS_OTP' }]);
    expect(await sessionExpiryOf(id)).toBeNull();
    const completedReset = {
      ...{ ...expectedReset, status: 'COMPLETED', enrollmentStatus: 'PENDING' },
      completedAt: new Date(app.effects.now()).toISOString(),
    };
    expect(ok(await readResetStatus(id, resetId), 200)).toEqual(completedReset);
    expect(statusCodeAndFields(await complete(id, resetId))).toEqual([
      400,
      'INVALID_INPUT',
      'resetId',
    ]);
    await factors.enrollTotp(id);
    expect(ok(await readResetStatus(id, resetId), 200)).toEqual({
      ...completedReset,
      enrollmentStatus: 'COMPLETED',
    });
    const events = await eventsOf(id);
    expect(events).toEqual([
      ...['FACTOR_ENROLLED', 'LOGIN', 'RESET_STARTED', 'RESET_PASSED', 'RESET_COMPLETED'],
      'FACTOR_ENROLLED',
    ]);
  });
});

describe('a reset of a passkey', () => {
  it('removes the passkey and ignores a phone number', async () => {
    const person = await createPhoneVerifiedCustomer(app);
    await factors.enrollPasskey(person.id);
    const resetId = await passLiveness(person.id, 'PASSKEY');
    const mobile = { countryCode: 'nowhere', number: '' };
    ok(await complete(person.id, resetId, { mobile }), 204);
    expect((await rowOf(person.id)).phone).toBe(person.phoneNumber);
    expect(ok(await factors.listFactors(person.id), 200).factors).toEqual([{ factor: 'SMS_OTP' }]);
  });
});

describe('a reset of codes by SMS', () => {
  it('changes the number, which counts as verified and is searchable', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    await logIn(app, id);
    const resetId = await passLiveness(id);
    const mobile = createMobile();
    const phone = `${mobile.countryCode}${mobile.number}`;
    ok(await complete(id, resetId, { mobile }), 204);
    const updatedCustomer = await rowOf(id);
    expect(updatedCustomer).toMatchObject({
      ...{ phone, contact_verification: { email: 'PENDING', phone: 'VERIFIED' } },
      phone_digest: digestOf(app.runtime.vault, 'phone', phone),
    });
    expect(await sessionExpiryOf(id)).toBeNull();
    expect(ok(await readResetStatus(id, resetId), 200)).toMatchObject({
      ...{ status: 'COMPLETED', factor: 'SMS_OTP', enrollmentStatus: null },
    });
    await logIn(app, id);
    expect((await messagesTo(app, id)).at(-1)).toMatchObject({ kind: 'SCA_CODE', to: phone });
  });

  it('marks the new number as verified if the previous number had no verification state', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { resetId } = ok(await start(id), 201);
    for (const _ of [1, 2]) await readResetStatus(id, resetId);
    // The state of a number that was changed while the platform required no authentication.
    const sql = 'update customers set contact_verification = null where id = $1';
    await app.runtime.db.query(sql, [id]);
    const mobile = { countryCode: '+49', number: '15112349999' };
    ok(await complete(id, resetId, { mobile }), 204);
    const { factors: enrolledFactors } = ok(
      await app.call('GET', `/sca/factors?customerId=${id}`),
      200,
    );
    expect(enrolledFactors).toEqual([{ factor: 'SMS_OTP' }]);
  });

  it('requires a valid number, and reports the country code and the number', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const resetId = await passLiveness(id);
    const completeForError = async (mobile?: unknown) =>
      statusCodeAndFields(
        await complete(id, resetId, mobile === undefined ? undefined : { mobile }),
      );
    expect(await completeForError()).toEqual([400, 'INVALID_INPUT', 'mobile']);
    const bothPartsError = [400, 'INVALID_INPUT', 'mobile.countryCode', 'mobile.number'];
    expect(await completeForError({ countryCode: '49', number: '0151 123' })).toEqual(
      bothPartsError,
    );
    expect(await completeForError({})).toEqual(bothPartsError);
    const numberError = [400, 'INVALID_INPUT', 'mobile.number'];
    expect(await completeForError({ countryCode: '+49', number: '0151123456' })).toEqual(
      numberError,
    );
    expect(await completeForError({ countryCode: '+49', number: '15112345678901' })).toEqual(
      numberError,
    );
    expect(await statusOf(id, resetId)).toBe('LIVENESS_PASSED');
    ok(await complete(id, resetId, { mobile: createMobile() }), 204);
  });

  it('is rejected while codes of a wallet are sent to the number', async () => {
    const fixture = walletFixture(app);
    const address = { line1: '1 Weg', city: 'Bonn', postalCode: '53111', country: 'DE' };
    const phoneNumber = `+49160999${1000 + ++phoneCount}`;
    const walletCustomer = await fixture.createWalletCustomer({ address, phoneNumber });
    const { id } = walletCustomer.customer;
    await app.runtime.db.query(
      `update customers set version = version + 1,
        contact_verification = '{"email":"VERIFIED","phone":"VERIFIED"}' where id = $1`,
      [id],
    );
    await app.operate(async (ctx) => {
      const wallet = await findWallet(ctx, walletCustomer.accountId);
      if (wallet) addCredential(ctx, wallet, { type: 'SMS_OTP', uniquenessKey: 'SMS_OTP' });
    });
    const resetId = await passLiveness(id);
    expect(statusCodeAndFields(await complete(id, resetId, { mobile: createMobile() }))).toEqual([
      409,
      'CONFLICT',
    ]);
    expect((await rowOf(id)).phone).toBe(phoneNumber);
    // A new SIM card with the same number does not affect the wallet.
    const mobile = { countryCode: '+49', number: phoneNumber.slice(3) };
    ok(await complete(id, resetId, { mobile }), 204);
  });
});

describe('a reset', () => {
  it('requires a factor that the customer has enrolled', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const expectedError = [400, 'INVALID_INPUT', 'factor'];
    for (const factor of ['TOTP', 'PASSKEY', 'FINGER', null]) {
      expect(statusCodeAndFields(await start(id, factor))).toEqual(expectedError);
    }
    expect(statusCodeAndFields(await start((await createEuropeanCustomer(app)).id))).toEqual(
      expectedError,
    );
  });

  describe('completeTwoFactorReset', () => {
    it('is rejected before the liveness check', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const { resetId } = await startReset(id);
      const response = await complete(id, resetId, { mobile: createMobile() });
      expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'resetId']);
      expect(response.body.message).toContain('INITIATED');
    });
  });

  describe('startTwoFactorReset', () => {
    it('replaces an open reset of the factor and revokes its link', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await factors.enrollTotp(id);
      const firstReset = await startReset(id);
      const otherReset = await startReset(id, 'TOTP');
      const passedResetId = await passLiveness(id);
      const lastReset = await startReset(id);
      expect(await statusOf(id, firstReset.resetId)).toBe('EXPIRED');
      expect(await statusOf(id, passedResetId)).toBe('EXPIRED');
      expect(await statusOf(id, lastReset.resetId)).toBe('INITIATED');
      expect(await statusOf(id, otherReset.resetId)).toBe('INITIATED');
      expect((await requestPage('POST', firstReset.verificationLink)).statusCode).toBe(404);
    });

    it('succeeds at most five times within a day', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      for (let count = 0; count < 5; count++) {
        ok(await start(id), 201);
        app.effects.set(app.effects.now() + HOUR);
      }
      // Requests rejected for another reason do not count.
      expect((await start(id, 'TOTP')).status).toBe(400);
      const rejectedResponse = await start(id);
      expect(statusCodeAndFields(rejectedResponse)).toEqual([429, 'RATE_LIMITED']);
      expect(rejectedResponse.headers['retry-after']).toBe(String((19 * HOUR) / 1000));
      ok(await start((await createPhoneVerifiedCustomer(app)).id), 201);
      app.effects.set(app.effects.now() + 19 * HOUR);
      ok(await start(id), 201);
    });
  });

  describe('getTwoFactorResetStatus', () => {
    it('returns EXPIRED after thirty minutes, even after the liveness check', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await factors.enrollTotp(id);
      const passedResetId = await passLiveness(id, 'TOTP');
      const { resetId, verificationLink } = await startReset(id);
      await app.advance(30 * MINUTE - 1);
      expect((await requestPage('GET', verificationLink)).statusCode).toBe(200);
      app.effects.set(app.effects.now() + 1);
      // The expiry applies even if the job has not run.
      expect((await requestPage('POST', verificationLink)).statusCode).toBe(404);
      expect(statusCodeAndFields(await complete(id, passedResetId))).toEqual([
        400,
        'INVALID_INPUT',
        'resetId',
      ]);
      expect(await statusOf(id, passedResetId)).toBe('EXPIRED');
      await app.advance(0);
      expect((await app.runtime.db.read(scaResets, resetId))?.status).toBe('EXPIRED');
      const expiryEvents = (await eventsOf(id)).filter((each) => each === 'RESET_EXPIRED');
      expect(expiryEvents).toHaveLength(2);
    });
  });

  it('is available to locked-out customers', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    for (let count = 0; count < 9; count++) {
      ok(await loginFixture(app).fail(id), 200);
      app.effects.set(app.effects.now() + 24 * HOUR);
    }
    const resetId = await passLiveness(id);
    ok(await complete(id, resetId, { mobile: createMobile() }), 204);
    const account = await createExternalAccount(app, id, 'EUR');
    const path = `/customers/external-accounts/${account.id}/trust`;
    expect(statusCodeAndFields(await app.call('POST', path))).toEqual([423, 'ACCOUNT_LOCKED']);
  });

  describe('completeTwoFactorReset', () => {
    it('succeeds once under concurrent requests', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await factors.enrollTotp(id);
      const startResponses = await Promise.all([
        start(id, 'TOTP'),
        start(id, 'TOTP'),
        start(id, 'TOTP'),
      ]);
      const states = await Promise.all(
        startResponses.map(async (response) => statusOf(id, ok(response, 201).resetId)),
      );
      expect(states.sort()).toEqual(['EXPIRED', 'EXPIRED', 'INITIATED']);
      const resetId = await passLiveness(id, 'TOTP');
      const completeResponses = await Promise.all([complete(id, resetId), complete(id, resetId)]);
      expect(completeResponses.map(({ status }) => status).sort()).toEqual([204, 400]);
      expect((await eventsOf(id)).filter((each) => each === 'RESET_COMPLETED')).toHaveLength(1);
    });
  });

  it('stores its secret as a hash and the repeatable reply sealed', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const options = { headers: { 'idempotency-key': 'reset-1' } };
    const firstBody = ok(await start(id, 'SMS_OTP', options), 201);
    expect(ok(await start(id, 'SMS_OTP', options), 201)).toEqual(firstBody);
    const storedRows = await app.runtime.db.query(
      `select row_to_json(r)::text as text from sca_resets r
        union all select reply from idempotency`,
      [],
    );
    expect(JSON.stringify(storedRows)).not.toContain(firstBody.livenessAccessToken);
    expect(app.log.join('')).not.toContain(firstBody.livenessAccessToken);
  });
});

describe('the page of a reset', () => {
  it('is available with the link and can be used once', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { resetId, verificationLink } = await startReset(id);
    const pageResponse = await requestPage('GET', verificationLink);
    expect(pageResponse.statusCode).toBe(200);
    expect(pageResponse.body).toContain('Main received a request to replace the phone number');
    expect(pageResponse.body).toContain(
      '<form method="post"><button type="submit" class="primary">',
    );
    expect(pageResponse.headers['content-security-policy']).toContain("default-src 'none'");
    const row = await app.runtime.db.read(scaResets, resetId);
    expect([row?.status, row?.polls]).toEqual(['INITIATED', 0]);
    expect((await requestPage('POST', verificationLink)).statusCode).toBe(200);
    const secondResponses = [
      await requestPage('POST', verificationLink),
      await requestPage('GET', verificationLink),
    ];
    expect(secondResponses.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
    expect(await statusOf(id, resetId)).toBe('LIVENESS_PASSED');
    expect((await eventsOf(id)).filter((each) => each === 'RESET_PASSED')).toHaveLength(1);
  });

  it('names the platform if the link has expired', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { resetId, verificationLink } = await startReset(id);
    await app.operate(async (ctx) => {
      const row = await ctx.read(scaResets, resetId);
      if (row) ctx.update(scaResets, row, { expires_at: ctx.now });
    });
    const { statusCode, body } = await requestPage('GET', verificationLink);
    expect(statusCode).toBe(404);
    expect(body).toContain('This link no longer works');
    expect(body).toContain('<span class="platform">Main</span>');
    expect(body).not.toContain('<form');
  });

  it('is not available for an unknown link or a deleted customer', async () => {
    expect((await requestPage('GET', 'http://x/reset/none')).statusCode).toBe(404);
    expect((await requestPage('POST', 'http://x/reset/none')).statusCode).toBe(404);
    const { id } = await createPhoneVerifiedCustomer(app);
    const { verificationLink } = await startReset(id);
    ok(await app.call('DELETE', `/customers/${id}`), 200);
    expect((await requestPage('POST', verificationLink)).statusCode).toBe(404);
  });
});

describe('the customer of a reset', () => {
  it('must belong to the platform', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { resetId } = await startReset(id);
    const otherCustomer = await createPhoneVerifiedCustomer(app);
    const platformOptions = { platform: app.other };
    const otherPlatformCustomer = await createPhoneVerifiedCustomer(app, platformOptions);
    for (const [owner, resource] of [
      ...[[otherCustomer.id, resetId] as const, [id, UNKNOWN_ID] as const, [id, 'x'] as const],
    ]) {
      expect(statusCodeAndFields(await readResetStatus(owner, resource))).toEqual([
        404,
        'NOT_FOUND',
      ]);
      expect(statusCodeAndFields(await complete(owner, resource))).toEqual([404, 'NOT_FOUND']);
    }
    expect(
      statusCodeAndFields(
        await readResetStatus(otherPlatformCustomer.id, resetId, platformOptions),
      ),
    ).toEqual([404, 'NOT_FOUND']);
    for (const response of [
      await start(id, 'SMS_OTP', platformOptions),
      await readResetStatus(id, resetId, platformOptions),
      await complete(id, resetId, {}, platformOptions),
    ]) {
      expect(statusCodeAndFields(response)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    expect(await statusOf(id, resetId)).toBe('INITIATED');
  });

  it('must be under SCA and not deleted', async () => {
    const requestAll = async (id: string) => [
      await start(id),
      await readResetStatus(id, UNKNOWN_ID),
      await complete(id, UNKNOWN_ID),
    ];
    const { id } = await createCustomer(app);
    for (const response of await requestAll(id))
      expect(statusCodeAndFields(response)).toEqual([409, 'CONFLICT']);
    const deletedCustomer = await createPhoneVerifiedCustomer(app);
    ok(await app.call('DELETE', `/customers/${deletedCustomer.id}`), 200);
    for (const response of await requestAll(deletedCustomer.id)) {
      expect(statusCodeAndFields(response)).toEqual([410, 'CUSTOMER_DELETED']);
    }
  });

  it('requires customerId', async () => {
    const responses = [
      await app.call('POST', '/sca/factors/reset', { factor: 'SMS_OTP' }),
      await app.call('GET', `/sca/factors/reset/${UNKNOWN_ID}`),
      await app.call('POST', `/sca/factors/reset/${UNKNOWN_ID}/complete`),
    ];
    for (const response of responses) {
      expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'customerId']);
    }
  });
});
