// Second factors in production and in the sandbox: listing, enrollment, confirmation and removal.
// Authenticator apps: enrollment, single use of codes, and recovery codes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../../test/kit/app/fixtures.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  sendCode,
} from '../../../../../test/kit/customers/contacts.ts';
import { codeAt, expectInvalidFields, openFactors } from '../../../../../test/kit/sca/factors.ts';
import { scaEvents } from '../../events/events.ts';
import { scaChallenges, scaEnrollments, scaFactors, scaResets } from '../store.ts';
import { clearFactor, verifyTotp } from './factors.ts';

const MINUTE = 60_000;
const STEP = 30_000;

let openedFactors: Awaited<ReturnType<typeof openFactors>>;
let { app, platform, fixture, sandboxFixture, createScaCustomer, advanceClock, rowOf, eventsOf } =
  {} as typeof openedFactors;
beforeAll(async () => {
  openedFactors = await openFactors();
  ({ app, platform, fixture, sandboxFixture, createScaCustomer, advanceClock, rowOf, eventsOf } =
    openedFactors);
});
afterAll(() => app.close());

const useCode = async (id: string, code: string, recovery = false, actor = platform) =>
  app.operate(async (ctx) => verifyTotp(ctx, await rowOf(id), code, { recovery }), actor);

describe('listScaFactors', () => {
  it('contains SMS_OTP only for a verified telephone number', async () => {
    const id = await createScaCustomer(app.platform);
    expect(await sandboxFixture.readFactors(id)).toEqual([]);
    await sendCode(app, id, 'phone');
    ok(await confirmCode(app, id, 'phone', '123456'), 200);
    expect(await sandboxFixture.readFactors(id)).toEqual(['SMS_OTP']);
  });

  it('shows enrolled factors, and the ID to remove a passkey', async () => {
    const id = await createScaCustomer();
    await fixture.enrollPasskey(id);
    await fixture.enrollTotp(id);
    expect(ok(await fixture.listFactors(id), 200)).toEqual({
      factors: [
        { factor: 'TOTP' },
        {
          factor: 'PASSKEY',
          credentialId: expect.stringMatching(/^ScaFactor:[0-9a-f-]{36}$/),
          name: 'Passkey',
        },
      ],
    });
  });

  it('and other operations reject unknown, deleted and non-SCA customers', async () => {
    const customerWithoutSca = await createCustomer(app);
    const deletedCustomerId = await createScaCustomer(app.platform);
    ok(await app.call('DELETE', `/customers/${deletedCustomerId}`), 200);
    const requestAll = (id: string) => [
      sandboxFixture.listFactors(id),
      sandboxFixture.startEnrollment(id, 'TOTP'),
      sandboxFixture.confirmEnrollment(id, { type: 'TOTP', secret: 'x', code: '1' }),
      sandboxFixture.removePasskey(id, 'ScaFactor:x'),
    ];
    const requestForErrors = async (id: string) =>
      (await Promise.all(requestAll(id))).map(({ status, body }) => `${status} ${body.code}`);
    const repeatFourTimes = (code: string) => [code, code, code, code];
    expect(await requestForErrors(customerWithoutSca.id)).toEqual(repeatFourTimes('409 CONFLICT'));
    expect(await requestForErrors(await createScaCustomer(app.other))).toEqual(
      repeatFourTimes('404 CUSTOMER_NOT_FOUND'),
    );
    expect(await requestForErrors('Customer:x')).toEqual(repeatFourTimes('404 CUSTOMER_NOT_FOUND'));
    expect(await requestForErrors(deletedCustomerId)).toEqual(
      repeatFourTimes('410 CUSTOMER_DELETED'),
    );
    expect((await app.call('GET', '/sca/factors')).status).toBe(400);
  });
});

describe('an enrollment', () => {
  it('rejects types other than TOTP and PASSKEY, and reports all missing fields', async () => {
    const id = await createScaCustomer();
    for (const type of ['SMS_OTP', 'totp', ''])
      expectInvalidFields(await fixture.startEnrollment(id, type), 'type');
    expectInvalidFields(
      await fixture.confirmEnrollment(id, { type: 'SMS_OTP', code: '1' }),
      'type',
    );
    expectInvalidFields(await fixture.confirmEnrollment(id, { type: 'TOTP' }), 'secret', 'code');
    expectInvalidFields(
      await fixture.confirmEnrollment(id, { type: 'PASSKEY' }),
      'origin',
      'credential',
    );
    const credential = 'text';
    expectInvalidFields(
      await fixture.confirmEnrollment(id, { type: 'PASSKEY', origin: 'x', credential }),
      'credential',
    );
    expectInvalidFields(
      await fixture.confirmEnrollment(id, { type: 'TOTP', secret: 'x', code: '1' }),
      'type',
    );
  });
});

describe('an authenticator app', () => {
  it('is enrolled by its secret and a valid code, and returns ten recovery codes', async () => {
    const { id, email } = await createEuropeanCustomer(app, { platform });
    const startedEnrollment = ok(await fixture.startEnrollment(id, 'TOTP'), 200);
    expect(startedEnrollment).toMatchObject({
      type: 'TOTP',
      secret: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    const url = new URL(startedEnrollment.totpUri);
    expect(decodeURIComponent(url.pathname)).toBe(`/Production:${email}`);
    expect(url.searchParams.get('secret')).toBe(startedEnrollment.secretBase32Encoded);
    expect(await fixture.readFactors(id)).toEqual([]);
    const code = codeAt(startedEnrollment.secretBase32Encoded, app.effects.now());
    const enrolledFactor = ok(
      await fixture.confirmEnrollment(id, { type: 'TOTP', secret: startedEnrollment.secret, code }),
      200,
    );
    expect(enrolledFactor.type).toBe('TOTP');
    expect(new Set(enrolledFactor.recoveryCodes).size).toBe(10);
    expect(await fixture.readFactors(id)).toEqual(['TOTP']);
    const [row] = await app.runtime.db.find(scaFactors, { customer_id: id });
    expect(await eventsOf(id)).toEqual([['FACTOR_ENROLLED', 'TOTP', row?.id]]);
  });

  it('stores its secret encrypted and its recovery codes as hashes', async () => {
    const id = await createScaCustomer();
    const headers = { 'idempotency-key': `totp ${id}` };
    const { secret, secretBase32Encoded: base32 } = ok(
      await fixture.startEnrollment(id, 'TOTP', { headers: { 'idempotency-key': `start ${id}` } }),
      200,
    );
    const pendingEnrollments = await app.runtime.db.find(scaEnrollments, { customer_id: id });
    const code = codeAt(base32, app.effects.now());
    const body = { type: 'TOTP', secret, code };
    const response = await fixture.confirmEnrollment(id, body, { headers });
    const { recoveryCodes } = ok(response, 200);
    const secondResponse = await fixture.confirmEnrollment(id, body, { headers });
    expect([secondResponse.status, secondResponse.body]).toEqual([200, response.body]);
    const storedJson = JSON.stringify(
      [
        pendingEnrollments,
        await app.runtime.db.find(scaFactors, { customer_id: id }),
        await app.runtime.db.query('select * from idempotency', []),
        await app.runtime.db.find(scaEvents, { customer_id: id }),
        app.log,
      ],
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    );
    expect(storedJson).toContain(`totp ${id}`);
    for (const each of [secret, base32, ...recoveryCodes]) expect(storedJson).not.toContain(each);
  });

  describe('startScaFactorEnrollment', () => {
    it('starts a new enrollment for every request, regardless of the idempotency key', async () => {
      const id = await createScaCustomer();
      const headers = { 'idempotency-key': `anew ${id}` };
      const firstEnrollment = ok(await fixture.startEnrollment(id, 'TOTP', { headers }), 200);
      const secondEnrollment = ok(await fixture.startEnrollment(id, 'TOTP', { headers }), 200);
      expect(secondEnrollment.secret).not.toBe(firstEnrollment.secret);
      const code = codeAt(firstEnrollment.secretBase32Encoded, app.effects.now());
      expectInvalidFields(
        await fixture.confirmEnrollment(id, { type: 'TOTP', secret: firstEnrollment.secret, code }),
        'secret',
      );
      const correctCode = codeAt(secondEnrollment.secretBase32Encoded, app.effects.now());
      ok(
        await fixture.confirmEnrollment(id, {
          type: 'TOTP',
          secret: secondEnrollment.secret,
          code: correctCode,
        }),
        200,
      );
    });
  });

  describe('confirmScaFactorEnrollment', () => {
    it('rejects a wrong code or secret, and any code after five failures', async () => {
      const id = await createScaCustomer();
      const { secret, secretBase32Encoded: base32 } = ok(
        await fixture.startEnrollment(id, 'TOTP'),
        200,
      );
      const confirm = (code: string, enrolledSecret = secret) =>
        fixture.confirmEnrollment(id, { type: 'TOTP', secret: enrolledSecret, code });
      const correctCode = codeAt(base32, app.effects.now());
      expectInvalidFields(await confirm('123456'), 'code');
      expectInvalidFields(await confirm('12345'), 'code');
      expectInvalidFields(await confirm('١٢٣٤٥٦'), 'code');
      expectInvalidFields(await confirm(correctCode, `${secret.slice(1)}0`), 'secret');
      expectInvalidFields(await confirm(codeAt(base32, app.effects.now() + 3 * STEP)), 'code');
      expectInvalidFields(await confirm(correctCode), 'type');
      expect(await fixture.readFactors(id)).toEqual([]);
      expect(await eventsOf(id)).toEqual([]);
      await fixture.enrollTotp(id);
    });

    it('succeeds after four failures', async () => {
      const id = await createScaCustomer();
      const { secret, secretBase32Encoded: base32 } = ok(
        await fixture.startEnrollment(id, 'TOTP'),
        200,
      );
      const wrongConfirmations = Array.from({ length: 4 }, () =>
        fixture.confirmEnrollment(id, { type: 'TOTP', secret, code: '12345' }),
      );
      for (const response of await Promise.all(wrongConfirmations))
        expectInvalidFields(response, 'code');
      const code = codeAt(base32, app.effects.now());
      ok(await fixture.confirmEnrollment(id, { type: 'TOTP', secret, code }), 200);
    });

    it('succeeds within ten minutes', async () => {
      const id = await createScaCustomer();
      const confirm = async (ms: number) => {
        const { secret, secretBase32Encoded: base32 } = ok(
          await fixture.startEnrollment(id, 'TOTP'),
          200,
        );
        advanceClock(ms);
        return fixture.confirmEnrollment(id, {
          type: 'TOTP',
          secret,
          code: codeAt(base32, app.effects.now()),
        });
      };
      expectInvalidFields(await confirm(10 * MINUTE), 'type');
      ok(await confirm(10 * MINUTE - 1), 200);
      expectInvalidFields(
        await fixture.confirmEnrollment(id, { type: 'TOTP', secret: 'x', code: '1' }),
        'type',
      );
    });

    it('succeeds for one of several concurrent confirmations', async () => {
      const id = await createScaCustomer();
      const { secret, secretBase32Encoded: base32 } = ok(
        await fixture.startEnrollment(id, 'TOTP'),
        200,
      );
      const code = codeAt(base32, app.effects.now());
      const confirmations = Array.from({ length: 4 }, () =>
        fixture.confirmEnrollment(id, { type: 'TOTP', secret, code }),
      );
      const statuses = (await Promise.all(confirmations)).map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 400, 400, 400]);
      expect(await eventsOf(id)).toHaveLength(1);
    });

    it('replaces the previous app and its recovery codes', async () => {
      const id = await createScaCustomer();
      const oldTotp = await fixture.enrollTotp(id);
      const startedEnrollment = ok(await fixture.startEnrollment(id, 'TOTP'), 200);
      advanceClock(STEP);
      expect(await useCode(id, codeAt(oldTotp.base32, app.effects.now()))).toBe(true);
      const { secret, secretBase32Encoded: base32 } = startedEnrollment;
      const code = codeAt(base32, app.effects.now());
      ok(await fixture.confirmEnrollment(id, { type: 'TOTP', secret, code }), 200);
      advanceClock(STEP);
      expect(await useCode(id, codeAt(oldTotp.base32, app.effects.now()))).toBe(false);
      expect(await useCode(id, oldTotp.recoveryCodes[0] as string, true)).toBe(false);
      expect(await useCode(id, codeAt(base32, app.effects.now()))).toBe(true);
      expect(await fixture.readFactors(id)).toEqual(['TOTP']);
    });

    it('accepts 123456 and the real code in the sandbox', async () => {
      const id = await createScaCustomer(app.platform);
      const { secret, secretBase32Encoded: base32 } = ok(
        await sandboxFixture.startEnrollment(id, 'TOTP'),
        200,
      );
      expectInvalidFields(
        await sandboxFixture.confirmEnrollment(id, { type: 'TOTP', secret, code: '654321' }),
        'code',
      );
      ok(await sandboxFixture.confirmEnrollment(id, { type: 'TOTP', secret, code: '123456' }), 200);
      const acceptedCodes = [];
      for (const code of ['123456', '123456', codeAt(base32, app.effects.now()), '654321']) {
        acceptedCodes.push(await useCode(id, code, false, app.platform));
      }
      expect(acceptedCodes).toEqual([true, true, true, false]);
    });
  });
});

describe('a code of an app', () => {
  it('is accepted once, and earlier codes are rejected afterwards', async () => {
    const id = await createScaCustomer();
    const { base32 } = await fixture.enrollTotp(id);
    const now = app.effects.now();
    expect(await useCode(id, codeAt(base32, now))).toBe(false);
    expect(await useCode(id, codeAt(base32, now - STEP))).toBe(false);
    expect(await useCode(id, codeAt(base32, now + 2 * STEP))).toBe(false);
    expect(await useCode(id, codeAt(base32, now + STEP))).toBe(true);
    advanceClock(STEP);
    expect(await useCode(id, codeAt(base32, now + STEP))).toBe(false);
    advanceClock(2 * STEP);
    expect(await useCode(id, codeAt(base32, now + 2 * STEP))).toBe(true);
  });

  it('is accepted once under concurrency', async () => {
    const id = await createScaCustomer();
    const { base32 } = await fixture.enrollTotp(id);
    advanceClock(STEP);
    const code = codeAt(base32, app.effects.now());
    const results = await Promise.all(Array.from({ length: 5 }, () => useCode(id, code)));
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it('can be replaced once by each recovery code, in any spelling', async () => {
    const id = await createScaCustomer();
    const { recoveryCodes } = await fixture.enrollTotp(id);
    const [firstRecoveryCode = '', secondRecoveryCode = ''] = recoveryCodes;
    expect(await useCode(id, firstRecoveryCode)).toBe(false);
    const results = await Promise.all(
      Array.from({ length: 4 }, () => useCode(id, firstRecoveryCode, true)),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await useCode(id, firstRecoveryCode, true)).toBe(false);
    expect(await useCode(id, secondRecoveryCode.toLowerCase().replaceAll('-', ''), true)).toBe(
      true,
    );
    const [row] = await app.runtime.db.find(scaFactors, { customer_id: id });
    expect(row?.recovery).toHaveLength(8);
    const otherCustomerId = await createScaCustomer();
    await fixture.enrollTotp(otherCustomerId);
    expect(await useCode(otherCustomerId, recoveryCodes[2] as string, true)).toBe(false);
  });

  it('is rejected for a customer without an app', async () => {
    expect(await useCode(await createScaCustomer(app.platform), '123456', true, app.platform)).toBe(
      false,
    );
  });
});

describe('deleteScaFactor', () => {
  it('removes a passkey, and another can be enrolled', async () => {
    const id = await createScaCustomer();
    const { credentialId } = await fixture.enrollPasskey(id);
    ok(await fixture.removePasskey(id, credentialId), 204);
    expect(await fixture.readFactors(id)).toEqual([]);
    expect((await fixture.removePasskey(id, credentialId)).status).toBe(404);
    const secondPasskey = await fixture.enrollPasskey(id);
    expect((await eventsOf(id)).map(([type, , subject]) => [type, subject])).toEqual([
      ['FACTOR_ENROLLED', credentialId],
      ['FACTOR_REMOVED', credentialId],
      ['FACTOR_ENROLLED', secondPasskey.credentialId],
    ]);
  });

  it('rejects an app, unknown IDs and a factor of another customer', async () => {
    const [id, otherCustomerId] = [await createScaCustomer(), await createScaCustomer()];
    await fixture.enrollTotp(id);
    const { credentialId } = await fixture.enrollPasskey(otherCustomerId);
    const [totp] = await app.runtime.db.find(scaFactors, { customer_id: id });
    const unknownId = credentialId.replace(/[0-9a-f]{12}$/, '0123456789ab');
    const factorIds = [totp?.id as string, credentialId, unknownId, 'x', 'SMS_OTP'];
    const responses = await Promise.all(factorIds.map((each) => fixture.removePasskey(id, each)));
    for (const { status, body } of responses) {
      expect([status, body]).toEqual([404, responses[0]?.body]);
    }
    expect(responses[0]?.body.code).toBe('AUTH_METHOD_NOT_FOUND');
    expect(await fixture.readFactors(id)).toEqual(['TOTP']);
    expect(await fixture.readFactors(otherCustomerId)).toEqual(['PASSKEY']);
  });
});

describe('clearFactor', () => {
  it('removes only one factor and its pending enrollments', async () => {
    const id = await createScaCustomer();
    const { base32 } = await fixture.enrollTotp(id);
    await fixture.enrollPasskey(id);
    const { secret } = ok(await fixture.startEnrollment(id, 'TOTP'), 200);
    await app.operate((ctx) => clearFactor(ctx, id, 'TOTP'), platform);
    expect(await fixture.readFactors(id)).toEqual(['PASSKEY']);
    advanceClock(STEP);
    expect(await useCode(id, codeAt(base32, app.effects.now()), true)).toBe(false);
    expectInvalidFields(
      await fixture.confirmEnrollment(id, { type: 'TOTP', secret, code: '123456' }),
      'type',
    );
    await app.operate((ctx) => clearFactor(ctx, id, 'TOTP'), platform);
  });
});

describe('a reset', () => {
  it('is completed only by the enrollment of the same factor', async () => {
    const id = await createScaCustomer();
    const insertReset = (factor: 'TOTP' | 'PASSKEY', status: 'COMPLETED' | 'INITIATED') =>
      app.operate(
        async (ctx) =>
          ctx.insert(scaResets, {
            id: ctx.id('ScaReset'),
            platform_id: platform.id,
            customer_id: id,
            factor,
            status,
            enrollment: status === 'COMPLETED' ? 'PENDING' : null,
            polls: 0,
            expires_at: ctx.now + MINUTE,
            created_at: ctx.now,
            updated_at: ctx.now,
          }),
        platform,
      );
    const rows = [
      await insertReset('TOTP', 'COMPLETED'),
      await insertReset('PASSKEY', 'COMPLETED'),
      await insertReset('TOTP', 'INITIATED'),
    ];
    const readEnrollmentStatuses = () =>
      Promise.all(
        rows.map(async (row) => (await app.runtime.db.read(scaResets, row.id))?.enrollment),
      );
    await fixture.enrollTotp(id);
    expect(await readEnrollmentStatuses()).toEqual(['COMPLETED', 'PENDING', null]);
    await fixture.enrollPasskey(id);
    expect(await readEnrollmentStatuses()).toEqual(['COMPLETED', 'COMPLETED', null]);
  });
});

describe('an unconfirmed enrollment', () => {
  it('is deleted at expiry', async () => {
    const [id, otherCustomerId] = [await createScaCustomer(), await createScaCustomer()];
    await fixture.startEnrollment(id, 'TOTP');
    advanceClock(6 * MINUTE);
    await fixture.startEnrollment(otherCustomerId, 'PASSKEY');
    await fixture.enrollTotp(otherCustomerId);
    advanceClock(5 * MINUTE);
    await app.settle();
    expect(await app.runtime.db.find(scaEnrollments, { customer_id: id })).toEqual([]);
    expect(
      await app.runtime.db.find(scaEnrollments, { customer_id: otherCustomerId }),
    ).toHaveLength(1);
    expect(await fixture.readFactors(otherCustomerId)).toEqual(['TOTP']);
  });
});

describe('a challenge', () => {
  it('is retained for thirty days after expiry', async () => {
    const id = await createScaCustomer(app.platform);
    await sandboxFixture.enrollPasskey(id);
    const path = `/sca/login/start?customerId=${id}`;
    ok(await app.call('POST', path, { factor: 'PASSKEY' }), 200);
    const countRemaining = async () => {
      await app.settle();
      return (await app.runtime.db.find(scaChallenges, { customer_id: id })).length;
    };
    advanceClock(10 * MINUTE + 30 * 24 * 60 * MINUTE);
    expect(await countRemaining()).toBe(1);
    advanceClock(2 * MINUTE);
    expect(await countRemaining()).toBe(0);
  });
});
