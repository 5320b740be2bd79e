// Lockout after failed attempts, with increasing lockouts and suspension. Failures of all kinds add up until
// a password reset.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { codeAt, factorFixture } from '../../../../test/kit/sca/factors.ts';
import { loginFixture, scaEventsOf, statusCodeAndFields } from '../../../../test/kit/sca/login.ts';
import {
  CODE,
  createPhoneVerifiedCustomer,
  logIn,
} from '../../../../test/kit/sca/strong-customers.ts';
import { scaLockouts } from './lockout.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const app = testApp();
const fixture = loginFixture(app);

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
const timeAfter = (ms: number) => new Date(app.effects.now() + ms).toISOString();
const FAILED_LOGIN = 'FAILED_LOGIN_ATTEMPT';
const startSms = async (id: string) =>
  ok(await fixture.start(id, 'SMS_OTP'), 200).challengeId as string;
const submitCode = (id: string, challengeId: string, code = '000000') =>
  fixture.complete(id, { factor: 'SMS_OTP', challengeId, code });
const readLockout = (id: string) => app.runtime.db.read(scaLockouts, id);

describe('recordSecurityEvent', () => {
  describe('failed logins', () => {
    it('lock the customer for increasing periods and finally suspend it', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      for (let failedAttempts = 1; failedAttempts < 5; failedAttempts++) {
        expect(ok(await fixture.fail(id), 200)).toEqual({
          ...{ eventType: FAILED_LOGIN, suspended: false, lockedUntil: null, failedAttempts },
        });
      }
      let failedAttempts = 4;
      for (const lockMs of [15 * MINUTE, 30 * MINUTE, HOUR, 24 * HOUR]) {
        failedAttempts += 1;
        const lockedState = { suspended: false, lockedUntil: timeAfter(lockMs), failedAttempts };
        expect(ok(await fixture.fail(id), 200)).toEqual({
          eventType: FAILED_LOGIN,
          ...lockedState,
        });
        advanceClock(lockMs - 1);
        const rejectedResponse = await fixture.fail(id);
        expect(statusCodeAndFields(rejectedResponse)).toEqual([423, 'ACCOUNT_LOCKED']);
        expect(rejectedResponse.body.details).toEqual(lockedState);
        advanceClock(1);
      }
      const suspendedState = { suspended: true, lockedUntil: null, failedAttempts: 9 };
      expect(ok(await fixture.fail(id), 200)).toEqual({
        eventType: FAILED_LOGIN,
        ...suspendedState,
      });
      advanceClock(3_650 * 24 * HOUR);
      const errorResponse = await fixture.fail(id);
      expect(statusCodeAndFields(errorResponse)).toEqual([423, 'ACCOUNT_LOCKED']);
      expect(errorResponse.body.details).toEqual(suspendedState);
      const types = (await scaEventsOf(app, id)).map(({ type }) => type);
      expect(types).toEqual(Array(9).fill(FAILED_LOGIN));
    });

    it('add up across successful logins', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await fixture.failTimes(id, 4);
      await logIn(app, id);
      advanceClock(100 * 24 * HOUR);
      await logIn(app, id);
      const lockedState = {
        suspended: false,
        lockedUntil: timeAfter(15 * MINUTE),
        failedAttempts: 5,
      };
      expect(ok(await fixture.fail(id), 200)).toMatchObject(lockedState);
    });

    it('are all counted under concurrency, until the lockout', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const failures = await Promise.all([fixture.fail(id), fixture.fail(id)]);
      expect(failures.map(({ body }) => body.failedAttempts).sort()).toEqual([1, 2]);
      const responses = await Promise.all(Array.from({ length: 10 }, () => fixture.fail(id)));
      const outcomes = responses.map(
        ({ status, body }) => `${status} ${body.failedAttempts ?? body.code}`,
      );
      expect(outcomes.sort()).toEqual([
        ...['200 3', '200 4', '200 5', ...Array(7).fill('423 ACCOUNT_LOCKED')],
      ]);
      expect((await readLockout(id))?.failed_attempts).toBe(5);
    });
  });

  describe('password reset', () => {
    const unlockedState = {
      eventType: 'RESET_PASSWORD_COMPLETED',
      ...{ suspended: false, lockedUntil: null, failedAttempts: 0 },
    };

    it('revokes the session and can be reported at any time', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      expect(ok(await fixture.reset(id), 200)).toEqual(unlockedState);
      await logIn(app, id);
      expect((await readLockout(id))?.session_expires_at).toBeGreaterThan(app.effects.now());
      expect(ok(await fixture.reset(id), 200)).toEqual(unlockedState);
      expect((await readLockout(id))?.session_expires_at).toBeNull();
      ok(await fixture.fail(id), 200);
      const types = (await scaEventsOf(app, id)).map(({ type }) => type);
      const [reset, login] = ['RESET_PASSWORD_COMPLETED', 'LOGIN'];
      expect(types).toEqual([reset, login, reset, FAILED_LOGIN]);
    });

    it('clears the lockout', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await fixture.failTimes(id, 5);
      const challengeId = await startSms(id);
      expect(statusCodeAndFields(await submitCode(id, challengeId, CODE))).toEqual([
        423,
        'ACCOUNT_LOCKED',
      ]);
      expect(ok(await fixture.reset(id), 200)).toEqual(unlockedState);
      ok(await submitCode(id, challengeId, CODE), 200);
    });

    it('clears the suspension', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await fixture.failTimes(id, 5);
      for (let index = 0; index < 4; index++) {
        advanceClock(24 * HOUR);
        ok(await fixture.fail(id), 200);
      }
      expect((await readLockout(id))?.suspended).toBe(true);
      expect(ok(await fixture.reset(id), 200)).toEqual(unlockedState);
      await logIn(app, id);
    });
  });
});

describe('completeScaLogin', () => {
  describe('wrong proofs', () => {
    it('count like failed logins, and a lockout rejects a valid proof', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      await fixture.failTimes(id, 3);
      const challengeId = await startSms(id);
      for (let index = 0; index < 2; index++) {
        expect(statusCodeAndFields(await submitCode(id, challengeId))).toEqual([
          400,
          'INVALID_INPUT',
          'code',
        ]);
      }
      const rejectedResponse = await submitCode(id, challengeId, CODE);
      expect(statusCodeAndFields(rejectedResponse)).toEqual([423, 'ACCOUNT_LOCKED']);
      const details = { suspended: false, lockedUntil: timeAfter(15 * MINUTE), failedAttempts: 5 };
      expect(rejectedResponse.body.details).toEqual(details);
      advanceClock(15 * MINUTE);
      const secondChallengeId = await startSms(id);
      expect((await submitCode(id, secondChallengeId)).status).toBe(400);
      expect(await readLockout(id)).toMatchObject({
        failed_attempts: 6,
        locked_until: app.effects.now() + 30 * MINUTE,
      });
      const types = (await scaEventsOf(app, id)).map(({ type, subject }) => [type, subject]);
      expect(types.slice(3)).toEqual([
        ['LOGIN_FAILED', challengeId],
        ['LOGIN_FAILED', challengeId],
        ['LOGIN_FAILED', secondChallengeId],
      ]);
    });

    it('close a challenge after five, even if the lockout was cleared', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const challengeId = await startSms(id);
      for (let index = 0; index < 5; index++) {
        expect((await submitCode(id, challengeId)).status).toBe(400);
      }
      await fixture.reset(id);
      advanceClock(MINUTE);
      const rejectedResponse = await submitCode(id, challengeId, CODE);
      expect(statusCodeAndFields(rejectedResponse)).toEqual([429, 'RATE_LIMITED']);
      expect(rejectedResponse.headers['retry-after']).toBe('240');
      expect((await readLockout(id))?.failed_attempts).toBe(0);
      ok(await submitCode(id, await startSms(id), CODE), 200);
    });

    it('are all counted when concurrent', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const challengeId = await startSms(id);
      const codes = Array.from({ length: 30 }, (_, index) => String(index).padStart(6, '0'));
      const responses = await Promise.all(codes.map((code) => submitCode(id, challengeId, code)));
      const statuses = responses.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(5).fill(400), ...Array(25).fill(423)]);
      expect((await readLockout(id))?.failed_attempts).toBe(5);
      expect((await submitCode(id, challengeId, CODE)).status).toBe(423);
    });

    it('with TOTP are limited by the lockout only', async () => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const { base32 } = await factorFixture(app).enrollTotp(id);
      advanceClock(MINUTE);
      const correctCode = codeAt(base32, app.effects.now());
      const validCodes = [CODE, correctCode, codeAt(base32, app.effects.now() - 30_000)];
      const wrongCodes = Array.from({ length: 20 }, (_, index) => String(index).padStart(6, '0'));
      const completeBy = (code: string) => fixture.complete(id, { factor: 'TOTP', code });
      const responses = await Promise.all(
        wrongCodes.filter((each) => !validCodes.includes(each)).map(completeBy),
      );
      expect(responses.filter(({ status }) => status === 400)).toHaveLength(5);
      expect(responses.filter(({ status }) => status === 423)).toHaveLength(responses.length - 5);
      expect((await completeBy(correctCode)).status).toBe(423);
      expect((await readLockout(id))?.failed_attempts).toBe(5);
    });
  });
});
