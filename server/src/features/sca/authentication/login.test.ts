// Login with each factor in the sandbox, the duration of the session, and rejections.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer } from '../../../../test/kit/customers/contacts.ts';
import { assertionJson, codeAt, factorFixture } from '../../../../test/kit/sca/factors.ts';
import { loginFixture, scaEventsOf, statusCodeAndFields } from '../../../../test/kit/sca/login.ts';
import {
  ADDRESS,
  CODE,
  createPhoneVerifiedCustomer,
  logIn,
  ORIGIN,
} from '../../../../test/kit/sca/strong-customers.ts';
import { customers } from '../../customers/records/store.ts';
import { checkSession, scaLockouts } from '../lockout/lockout.ts';
import { openChallenge } from './challenges.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

const app = testApp();
const fixture = loginFixture(app);
const factors = factorFixture(app);

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
const timeAfter = (ms: number) => new Date(app.effects.now() + ms).toISOString();
const startSms = async (id: string) =>
  ok(await fixture.start(id, 'SMS_OTP'), 200).challengeId as string;
const readLockout = (id: string) => app.runtime.db.read(scaLockouts, id);
const countFailures = async (id: string) => (await readLockout(id))?.failed_attempts ?? 0;
const readSessionState = (id: string) =>
  app
    .operate((ctx) => checkSession(ctx, id))
    .then(
      () => 'VALID',
      (fault) => fault.code,
    );

describe('a login by SMS', () => {
  it('requires a code for a challenge, and is valid for 180 days', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    expect(await readSessionState(id)).toBe('SCA_SESSION_REQUIRED');
    const startedBody = ok(await fixture.start(id, 'SMS_OTP'), 200);
    expect(startedBody).toEqual({
      factor: 'SMS_OTP',
      challengeId: expect.stringMatching(/^ScaChallenge:[0-9a-f-]{36}$/),
      expiresAt: timeAfter(5 * MINUTE),
    });
    const { challengeId } = startedBody;
    const response = await fixture.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE });
    expect(ok(response, 200)).toEqual({
      status: 'SUCCESS',
      sessionExpiresAt: timeAfter(180 * DAY),
    });
    expect(await readSessionState(id)).toBe('VALID');
    advanceClock(180 * DAY - 1);
    expect(await readSessionState(id)).toBe('VALID');
    advanceClock(1);
    expect(await readSessionState(id)).toBe('SCA_SESSION_REQUIRED');
    const [event, ...furtherEvents] = await scaEventsOf(app, id);
    expect(event).toMatchObject({ type: 'LOGIN', factor: 'SMS_OTP', subject: challengeId });
    expect([event?.ip, furtherEvents]).toEqual([ADDRESS, []]);
    expect(event?.ip_address).not.toContain(ADDRESS);
  });

  it('replaces the previous login', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    await logIn(app, id);
    advanceClock(100 * DAY);
    await logIn(app, id);
    advanceClock(170 * DAY);
    expect(await readSessionState(id)).toBe('VALID');
    expect((await app.runtime.db.find(scaLockouts, { id })).length).toBe(1);
    advanceClock(10 * DAY);
    expect(await readSessionState(id)).toBe('SCA_SESSION_REQUIRED');
  });

  describe('completeScaLogin', () => {
    it('accepts a code with spaces', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const proof = { challengeId: await startSms(id), code: ' 123 456 ' };
      ok(await fixture.complete(id, { factor: 'SMS_OTP', ...proof }), 200);
    });

    it('succeeds once until expiry, and does not count an expired proof as a failure', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const proof = { factor: 'SMS_OTP', challengeId: await startSms(id), code: CODE };
      ok(await fixture.complete(id, proof), 200);
      expect(statusCodeAndFields(await fixture.complete(id, proof))).toEqual([
        400,
        'INVALID_INPUT',
        'code',
      ]);
      const expiredProof = { ...proof, challengeId: await startSms(id) };
      advanceClock(5 * MINUTE);
      expect(statusCodeAndFields(await fixture.complete(id, expiredProof))).toEqual([
        400,
        'INVALID_INPUT',
        'code',
      ]);
      expect(await countFailures(id)).toBe(0);
      const lastProof = { ...proof, challengeId: await startSms(id) };
      advanceClock(5 * MINUTE - 1);
      ok(await fixture.complete(id, lastProof), 200);
    });
  });

  describe('startScaLogin', () => {
    it('replaces the previous challenge', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const [firstChallenge, secondChallenge] = [await startSms(id), await startSms(id)];
      const complete = (challengeId: string) =>
        fixture.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE });
      expect(statusCodeAndFields(await complete(firstChallenge))).toEqual([
        400,
        'INVALID_INPUT',
        'code',
      ]);
      ok(await complete(secondChallenge), 200);
    });

    it('keeps one of three challenges that are started concurrently', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const startedChallenges = await Promise.all([startSms(id), startSms(id), startSms(id)]);
      const responses = [];
      for (const challengeId of startedChallenges) {
        responses.push(await fixture.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE }));
      }
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });
  });

  it('requires a challenge of this customer’s login', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const otherCustomer = await createPhoneVerifiedCustomer(app);
    const otherPlatformCustomer = await createPhoneVerifiedCustomer(app, { platform: app.other });
    const otherPlatformFixture = loginFixture(app, { platform: app.other });
    const otherPlatformChallengeId = ok(
      await otherPlatformFixture.start(otherPlatformCustomer.id, 'SMS_OTP'),
      200,
    ).challengeId;
    const paymentChallenge = await app.operate(async (ctx) => {
      const row = await ctx.read(customers, id);
      const platform = await ctx.db.query('select * from platforms where id = $1', [
        app.platform.id,
      ]);
      const deps = { connectors: app.connectorsOf, origin: () => '' };
      const action = { kind: 'PAYMENT', subject: 'Quote:1', binding: 'x' } as const;
      const party = { customer: row, platform: platform[0] } as never;
      return openChallenge(ctx, deps, party, { ...action, factor: 'SMS_OTP', field: 'scaFactor' });
    });
    const invalidIds = [
      await startSms(otherCustomer.id),
      otherPlatformChallengeId,
      paymentChallenge.id,
      `ScaChallenge:${crypto.randomUUID()}`,
    ];
    for (const challengeId of [...invalidIds, 'x', `Quote:${crypto.randomUUID()}`]) {
      const response = await fixture.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE });
      expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'challengeId']);
      expect(response.body.reason).toContain('must be a pending SMS_OTP login of this customer');
    }
    expect(await countFailures(id)).toBe(0);
    // The challenge remains valid for its own customer.
    const proof = { factor: 'SMS_OTP', challengeId: otherPlatformChallengeId, code: CODE };
    ok(await otherPlatformFixture.complete(otherPlatformCustomer.id, proof), 200);
  });

  it('requires a verified number', async () => {
    const { id } = await createEuropeanCustomer(app);
    const expectedError = [400, 'INVALID_INPUT', 'factor'];
    expect(statusCodeAndFields(await fixture.start(id, 'SMS_OTP'))).toEqual(expectedError);
    const proof = { factor: 'SMS_OTP', challengeId: 'x', code: CODE };
    expect(statusCodeAndFields(await fixture.complete(id, proof))).toEqual(expectedError);
  });

  it('is rejected after a change of the number', async () => {
    const { id } = await createPhoneVerifiedCustomer(app, {}, { currencies: ['EUR'] });
    const challengeId = await startSms(id);
    const patch = { customerType: 'INDIVIDUAL', phoneNumber: '+4915199999999' };
    ok(await app.call('PATCH', `/customers/${id}`, patch), 200);
    const response = await fixture.complete(id, { factor: 'SMS_OTP', challengeId, code: CODE });
    expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'factor']);
  });
});

describe('a login with an authenticator app', () => {
  it('requires no challenge and accepts a code or a recovery code, each once', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { base32, recoveryCodes } = await factors.enrollTotp(id);
    expect(ok(await fixture.start(id, 'TOTP'), 200)).toEqual({ factor: 'TOTP' });
    advanceClock(MINUTE);
    const code = codeAt(base32, app.effects.now());
    const completeWith = (input: unknown) => fixture.complete(id, { factor: 'TOTP', code: input });
    ok(await completeWith(code), 200);
    expect(statusCodeAndFields(await completeWith(code))).toEqual([400, 'INVALID_INPUT', 'code']);
    ok(await completeWith(recoveryCodes[0]), 200);
    expect((await completeWith(recoveryCodes[0])).status).toBe(400);
    ok(await completeWith(CODE), 200);
    expect(await countFailures(id)).toBe(2);
    const types = (await scaEventsOf(app, id)).map(({ type, factor }) => `${type} ${factor}`);
    expect(types.filter((each) => each.startsWith('LOGIN'))).toEqual([
      ...['LOGIN TOTP', 'LOGIN_FAILED TOTP', 'LOGIN TOTP', 'LOGIN_FAILED TOTP', 'LOGIN TOTP'],
    ]);
  });

  it('accepts a code in the groups that apps show', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { base32 } = await factors.enrollTotp(id);
    advanceClock(MINUTE);
    const code = codeAt(base32, app.effects.now()).replace(/^.../, '$& ');
    ok(await fixture.complete(id, { factor: 'TOTP', code }), 200);
    expect(await countFailures(id)).toBe(0);
  });

  it('accepts a code once under concurrent requests', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { base32 } = await factors.enrollTotp(id);
    advanceClock(MINUTE);
    const proof = { factor: 'TOTP', code: codeAt(base32, app.effects.now()) };
    const responses = await Promise.all([1, 2, 3, 4].map(() => fixture.complete(id, proof)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(await countFailures(id)).toBe(3);
  });
});

describe('a login with a passkey', () => {
  it('requires a signature of the pending challenge', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { device, origin } = await factors.enrollPasskey(id);
    const startedBody = ok(await fixture.start(id, 'PASSKEY'), 200);
    expect(startedBody).toMatchObject({
      factor: 'PASSKEY',
      passkeyOptions: { rpId: 'localhost', userVerification: 'required' },
      allowedOrigins: [ORIGIN],
      relyingPartyId: 'localhost',
    });
    const passkeyAssertion = assertionJson(device, startedBody.passkeyOptions.challenge);
    const proof = { factor: 'PASSKEY', passkeyAssertion, origin };
    ok(await fixture.complete(id, proof), 200);
    expect(await readSessionState(id)).toBe('VALID');
    const expectedError = [400, 'INVALID_INPUT', 'passkeyAssertion'];
    expect(statusCodeAndFields(await fixture.complete(id, proof))).toEqual(expectedError);
    await fixture.start(id, 'PASSKEY');
    expect(statusCodeAndFields(await fixture.complete(id, proof))).toEqual(expectedError);
    expect(await countFailures(id)).toBe(1);
  });

  it('expires after ten minutes or when a login by SMS is started', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { device, origin } = await factors.enrollPasskey(id);
    const signPasskeyLogin = async () => {
      const { passkeyOptions } = ok(await fixture.start(id, 'PASSKEY'), 200);
      const passkeyAssertion = assertionJson(device, passkeyOptions.challenge);
      return { factor: 'PASSKEY', passkeyAssertion, origin };
    };
    const expectedError = [400, 'INVALID_INPUT', 'passkeyAssertion'];
    const assertion = await signPasskeyLogin();
    advanceClock(10 * MINUTE);
    expect(statusCodeAndFields(await fixture.complete(id, assertion))).toEqual(expectedError);
    const otherAssertion = await signPasskeyLogin();
    const challengeId = await startSms(id);
    expect(statusCodeAndFields(await fixture.complete(id, otherAssertion))).toEqual(expectedError);
    const mixedResponse = await fixture.complete(id, { ...otherAssertion, challengeId });
    expect(statusCodeAndFields(mixedResponse)).toEqual([400, 'INVALID_INPUT', 'challengeId']);
    expect(await countFailures(id)).toBe(0);
  });
});

describe('a login', () => {
  it.each([
    [{}, ['factor', 'endUserIpAddress']],
    [{ factor: 'EMAIL', endUserIpAddress: ADDRESS }, ['factor']],
    [{ factor: 'SMS_OTP', endUserIpAddress: 'here' }, ['endUserIpAddress', 'challengeId', 'code']],
    [{ factor: 'SMS_OTP', endUserIpAddress: '::1', challengeId: 'x', code: '' }, ['code']],
    [
      { factor: 'SMS_OTP', endUserIpAddress: '1.2.3', challengeId: 'x', code: 1 },
      ['code', 'endUserIpAddress'],
    ],
    [{ factor: 'TOTP', endUserIpAddress: ADDRESS, challengeId: 'x' }, ['challengeId', 'code']],
    [
      {
        factor: 'TOTP',
        endUserIpAddress: ADDRESS,
        code: CODE,
        passkeyAssertion: {},
        origin: ORIGIN,
      },
      ['passkeyAssertion'],
    ],
    [
      { factor: 'PASSKEY', endUserIpAddress: ADDRESS, code: CODE },
      ['code', 'passkeyAssertion', 'origin'],
    ],
    [{ factor: 'PASSKEY', endUserIpAddress: ADDRESS, passkeyAssertion: {} }, ['origin']],
  ])('reports every invalid field: %j', async (body, fields) => {
    const { id } = await createCustomer(app);
    const response = await app.call('POST', `/sca/login/complete?customerId=${id}`, body);
    expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', ...fields]);
  });

  it.each(['TOTP', 'PASSKEY'])('is not possible with %s if it is not enrolled', async (factor) => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const expectedError = [400, 'INVALID_INPUT', 'factor'];
    expect(statusCodeAndFields(await fixture.start(id, factor))).toEqual(expectedError);
    const proof = factor === 'TOTP' ? { code: CODE } : { passkeyAssertion: {}, origin: ORIGIN };
    expect(statusCodeAndFields(await fixture.complete(id, { factor, ...proof }))).toEqual(
      expectedError,
    );
    expect(await countFailures(id)).toBe(0);
  });

  it('is available only to existing customers under SCA', async () => {
    const usCustomer = await createCustomer(app);
    const callAll = async (id: string, ownFixture: typeof fixture) => [
      await ownFixture.start(id, 'SMS_OTP'),
      await ownFixture.complete(id, { factor: 'TOTP', code: CODE }),
      await ownFixture.fail(id),
      await ownFixture.reset(id),
    ];
    for (const response of await callAll(usCustomer.id, fixture)) {
      expect(statusCodeAndFields(response)).toEqual([409, 'CONFLICT']);
    }
    const germanCustomer = await createPhoneVerifiedCustomer(app);
    await logIn(app, germanCustomer.id);
    const unknownResponses = await callAll(
      germanCustomer.id.replace(/.{12}$/, '0123456789ab'),
      fixture,
    );
    const otherPlatformResponses = await callAll(
      germanCustomer.id,
      loginFixture(app, { platform: app.other }),
    );
    expect(otherPlatformResponses.map(statusCodeAndFields)).toEqual(
      Array(4).fill([404, 'CUSTOMER_NOT_FOUND']),
    );
    expect(otherPlatformResponses.map(({ body }) => body)).toEqual(
      unknownResponses.map(({ body }) => body),
    );
    await app.runtime.db.query('update platforms set sca = false where id = $1', [app.other.id]);
    const unregulatedCustomer = await createEuropeanCustomer(app, { platform: app.other });
    for (const response of await callAll(
      unregulatedCustomer.id,
      loginFixture(app, { platform: app.other }),
    )) {
      expect(statusCodeAndFields(response)).toEqual([409, 'CONFLICT']);
    }
    await app.runtime.db.query('update platforms set sca = true where id = $1', [app.other.id]);
    ok(await app.call('DELETE', `/customers/${germanCustomer.id}`), 200);
    for (const response of await callAll(germanCustomer.id, fixture)) {
      expect(statusCodeAndFields(response)).toEqual([410, 'CUSTOMER_DELETED']);
    }
  });

  it('requires customerId', async () => {
    const response = await app.call('POST', '/sca/login/start', { factor: 'SMS_OTP' });
    expect(statusCodeAndFields(response)).toEqual([400, 'INVALID_INPUT', 'customerId']);
  });
});
