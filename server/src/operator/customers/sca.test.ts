// The operator's commands for strong customer authentication, in production with an SMS gateway and
// without an identity service, and in the sandbox.
import { beforeAll, describe, expect, it } from 'vitest';
import { createExternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import type { CallOptions, TestApp } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { openForFile, testApp } from '../../../test/kit/app/test-app.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  sendCode,
} from '../../../test/kit/customers/contacts.ts';
import { startReceiver } from '../../../test/kit/http/webhook-receiver.ts';
import { factorFixture } from '../../../test/kit/sca/factors.ts';
import { loginFixture, scaEventsOf, statusCodeAndFields } from '../../../test/kit/sca/login.ts';
import {
  ADDRESS,
  CODE,
  createPhoneVerifiedCustomer,
  logIn,
} from '../../../test/kit/sca/strong-customers.ts';

const HOUR_MS = 3_600_000;
const UNKNOWN_ID = '01980000-0000-7000-8000-000000000000';
const DECISION = ['--actor', 'Ada', '--reason', 'seen by video'];

const sms = openForFile(startReceiver);
let productionOptions: { platform: TestApp['production'] };
let command: ReturnType<typeof commandRunner>;
const app = testApp(() => ({ connectors: { smsUrl: sms.url } }));
beforeAll(async () => {
  productionOptions = { platform: app.production };
  command = commandRunner(app);
});

const run = (...argv: string[]) => command(['sca', ...argv]);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

async function expectRejected(message: string, ...argv: string[]) {
  const { code, out, err } = await run(...argv);
  expect([code, out, err]).toEqual([1, '', `${message}\n`]);
}

/** The code of the latest text message. */
async function readTextedCode(): Promise<string> {
  await app.settle();
  return JSON.parse(sms.arrivals.at(-1)?.body ?? '{}').text.slice(0, 6);
}

/** A customer of the production platform with a verified phone number. */
async function createVerifiedCustomer() {
  const person = await createEuropeanCustomer(app, productionOptions);
  ok(await sendCode(app, person.id, 'phone', productionOptions), 204);
  ok(await confirmCode(app, person.id, 'phone', await readTextedCode(), productionOptions), 200);
  return person;
}

const start = async (id: string, options: CallOptions = productionOptions, factor = 'SMS_OTP') =>
  ok(await app.call('POST', `/sca/factors/reset?customerId=${id}`, { factor }, options), 201);
const show = async (id: string, resetId: string) =>
  ok(
    await app.call(
      'GET',
      `/sca/factors/reset/${resetId}?customerId=${id}`,
      undefined,
      productionOptions,
    ),
    200,
  );
const completeReset = (id: string, resetId: string, mobile?: object) =>
  app.call(
    'POST',
    `/sca/factors/reset/${resetId}/complete?customerId=${id}`,
    mobile && { mobile },
    productionOptions,
  );

const cellsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('a reset without an identity service', () => {
  it('is pending for a day, and continues after the decision of the operator', async () => {
    const { id } = await createVerifiedCustomer();
    const startedReset = await start(id);
    const now = app.effects.now();
    expect(startedReset).toEqual({
      resetId: expect.stringMatching(/^ScaReset:/),
      expiresAt: new Date(now + 24 * HOUR_MS).toISOString(),
    });
    const { resetId } = startedReset;
    for (let polls = 0; polls < 3; polls++) {
      expect(await show(id, resetId)).toMatchObject({ status: 'PENDING_REVIEW' });
    }
    const mobile = { countryCode: '+49', number: '1605551234' };
    expect(statusCodeAndFields(await completeReset(id, resetId, mobile))[0]).toBe(400);
    const [row] = await runJson('resets', app.production.id);
    expect(row).toEqual({
      ...{ resetId, platformId: app.production.id, customerId: id, factor: 'SMS_OTP' },
      ...{ status: 'PENDING_REVIEW', createdAt: new Date(now).toISOString(), completedAt: null },
      expiresAt: startedReset.expiresAt,
    });
    app.effects.set(now + 23 * HOUR_MS);
    const passedOutput = await runJson('pass-reset', resetId, ...DECISION);
    const endTime = new Date(app.effects.now() + 24 * HOUR_MS).toISOString();
    expect(passedOutput).toEqual({ ...row, status: 'LIVENESS_PASSED', expiresAt: endTime });
    await app.advance(2 * HOUR_MS);
    expect(await show(id, resetId)).toMatchObject({
      status: 'LIVENESS_PASSED',
      expiresAt: endTime,
    });
    ok(await completeReset(id, resetId, mobile), 204);
    const emittedEvents = await scaEventsOf(app, id);
    expect(emittedEvents.map(({ type, actor, reason }) => [type, actor, reason])).toEqual([
      ['RESET_STARTED', null, null],
      ['RESET_PASSED', 'Ada', 'seen by video'],
      ['RESET_COMPLETED', null, null],
    ]);
    await expectRejected(
      'The reset is COMPLETED and cannot be decided.',
      'pass-reset',
      resetId,
      ...DECISION,
    );
  });

  it('does not accept codes that were sent to the previous number', async () => {
    const { id } = await createVerifiedCustomer();
    const login = loginFixture(app, productionOptions);
    const { challengeId } = ok(await login.start(id, 'SMS_OTP'), 200);
    const code = await readTextedCode();
    const { resetId } = await start(id);
    await runJson('pass-reset', resetId, ...DECISION);
    ok(await completeReset(id, resetId, { countryCode: '+49', number: '1605554321' }), 204);
    const proof = { factor: 'SMS_OTP', challengeId, code };
    expect(statusCodeAndFields(await login.complete(id, proof))).toEqual([
      400,
      'INVALID_INPUT',
      'code',
    ]);
    const secondLogin = ok(await login.start(id, 'SMS_OTP'), 200);
    const secondProof = {
      factor: 'SMS_OTP',
      challengeId: secondLogin.challengeId,
      code: await readTextedCode(),
    };
    expect(JSON.parse(sms.arrivals.at(-1)?.body ?? '{}').to).toBe('+491605554321');
    ok(await login.complete(id, secondProof), 200);
  });

  it('is rejected by the operator, or expires', async () => {
    const { id } = await createVerifiedCustomer();
    const { resetId } = await start(id);
    await runJson('reject-reset', resetId, '--reason', 'another face');
    expect(await show(id, resetId)).toMatchObject({ status: 'REJECTED' });
    expect(statusCodeAndFields(await completeReset(id, resetId))).toEqual([
      400,
      'INVALID_INPUT',
      'resetId',
    ]);
    const emittedEvents = await scaEventsOf(app, id);
    expect(emittedEvents.at(-1)).toMatchObject({
      ...{ type: 'RESET_REJECTED', actor: 'operator', reason: 'another face', subject: resetId },
    });
    const expiredReset = await start(id);
    app.effects.set(app.effects.now() + 24 * HOUR_MS);
    await expectRejected(
      'The reset is EXPIRED and cannot be decided.',
      'pass-reset',
      expiredReset.resetId,
      ...DECISION,
    );
    await app.settle();
    expect(await runJson('resets', app.production.id)).toEqual([]);
    const [row] = await runJson('resets', app.production.id, '--status', 'EXPIRED');
    expect(row.resetId).toBe(expiredReset.resetId);
  });

  it('is listed oldest first, by platform and page', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await start((await createVerifiedCustomer()).id)).resetId);
      app.effects.set(app.effects.now() + 1);
    }
    const listIds = async (...argv: string[]) =>
      (await runJson('resets', ...argv)).map(({ resetId }: { resetId: string }) => resetId);
    expect(await listIds(app.production.id)).toEqual(ids);
    expect(await listIds('--limit', '2')).toEqual(ids.slice(0, 2));
    expect(await listIds('--after', ids[1] as string)).toEqual(ids.slice(2));
    expect(await listIds(app.platform.id)).toEqual([]);
    const { out } = await run('resets');
    expect(cellsOf(out)[0]).toEqual([
      ...['SINCE', 'RESET', 'FACTOR', 'STATUS', 'EXPIRES', 'CUSTOMER', 'PLATFORM'],
    ]);
    expect(cellsOf(out)[1]?.slice(1, 4)).toEqual([ids[0], 'SMS_OTP', 'PENDING_REVIEW']);
  });

  it('is decided with a reason, for an existing customer', async () => {
    const { id } = await createVerifiedCustomer();
    const { resetId } = await start(id);
    for (const verb of ['pass-reset', 'reject-reset']) {
      expect((await run(verb, resetId)).code).toBe(2);
      await expectRejected('Reset not found.', verb, `ScaReset:${UNKNOWN_ID}`, ...DECISION);
      await expectRejected('Reset not found.', verb, id, ...DECISION);
    }
    await expectRejected('Platform not found.', 'resets', `PlatformConfig:${UNKNOWN_ID}`);
    ok(await app.call('DELETE', `/customers/${id}`, undefined, productionOptions), 200);
    await expectRejected('The customer was deleted.', 'pass-reset', resetId, ...DECISION);
  });

  it('can be decided in the sandbox, and its page is then not found', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { resetId, verificationLink } = await start(id, {});
    expect(await runJson('reject-reset', resetId, ...DECISION)).toMatchObject({
      status: 'REJECTED',
    });
    const url = new URL(verificationLink).pathname;
    expect((await app.server.inject({ method: 'POST', url })).statusCode).toBe(404);
  });
});

describe('sca show', () => {
  it('shows the state of a customer, and no authentication secrets', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const { secret, base32, recoveryCodes } = await factorFixture(app).enrollTotp(id);
    await logIn(app, id);
    const login = loginFixture(app);
    ok(await login.fail(id), 200);
    const { resetId, livenessAccessToken, expiresAt } = await start(id, {}, 'TOTP');
    const account = await createExternalAccount(app, id, 'EUR');
    await createExternalAccount(app, id, 'EUR');
    const path = `/customers/external-accounts/${account.id}/trust`;
    ok(await app.call('POST', path), 200);
    ok(await app.call('POST', `${path}/confirm`, { code: CODE }), 200);
    const state = await runJson('show', id);
    const now = new Date(app.effects.now()).toISOString();
    const SESSION_MS = 180 * 24 * HOUR_MS;
    expect(state).toMatchObject({
      ...{ customerId: id, platformId: app.platform.id, isUnderSca: true },
      ...{ failedAttempts: 1, lockedUntil: null, suspended: false },
      sessionExpiresAt: new Date(app.effects.now() + SESSION_MS).toISOString(),
      factors: [
        { factor: 'SMS_OTP', factorId: null, enrolledAt: null, recoveryCodesLeft: null },
        { factor: 'TOTP', enrolledAt: now, recoveryCodesLeft: 10 },
      ],
      openResets: [{ resetId, factor: 'TOTP', status: 'INITIATED', expiresAt }],
      trustedAccounts: [{ accountId: account.id, trustedAt: now }],
    });
    expect(state.trustedAccounts).toHaveLength(1);
    const { out } = await run('show', id);
    expect(out).toMatch(/^Failures +1$/m);
    expect(out).toMatch(/^Locked until +not locked$/m);
    expect(cellsOf(out)).toContainEqual([account.id, now]);
    for (const storedSecret of [secret, base32, ...recoveryCodes, livenessAccessToken]) {
      expect(out).not.toContain(storedSecret);
      expect(JSON.stringify(state)).not.toContain(storedSecret);
    }
  });

  it('shows customers to whom SCA does not apply, and rejects unknown IDs', async () => {
    const person = await createEuropeanCustomer(app, {}, { region: 'US' });
    expect(await runJson('show', person.id)).toMatchObject({
      ...{ isUnderSca: false, failedAttempts: 0, openResets: [], trustedAccounts: [] },
    });
    for (const verb of ['show', 'events']) {
      await expectRejected('Customer not found.', verb, `Customer:${UNKNOWN_ID}`);
      await expectRejected('Customer not found.', verb, 'x');
    }
  });
});

describe('sca unlock', () => {
  it('unlocks a suspended customer, and keeps the current login', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    await logIn(app, id);
    const login = loginFixture(app);
    for (let count = 0; count < 9; count++) {
      ok(await login.fail(id), 200);
      app.effects.set(app.effects.now() + 24 * HOUR_MS);
    }
    expect((await run('show', id)).out).toMatch(/^Locked until +suspended$/m);
    expect((await login.fail(id)).status).toBe(423);
    expect((await run('unlock', id)).code).toBe(2);
    expect(await runJson('unlock', id, ...DECISION)).toEqual({
      ...{ customerId: id, failedAttempts: 0, lockedUntil: null, suspended: false },
    });
    expect((await runJson('show', id)).sessionExpiresAt).toEqual(expect.any(String));
    expect(ok(await login.fail(id), 200)).toMatchObject({ failedAttempts: 1, suspended: false });
    expect((await scaEventsOf(app, id)).at(-2)).toMatchObject({
      ...{ type: 'UNLOCKED', actor: 'Ada', reason: 'seen by video' },
    });
  });

  it('rejects deleted and unknown customers', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    ok(await app.call('DELETE', `/customers/${id}`), 200);
    await expectRejected('The customer was deleted.', 'unlock', id, ...DECISION);
    await expectRejected('Customer not found.', 'unlock', `Customer:${UNKNOWN_ID}`, ...DECISION);
  });
});

describe('sca events', () => {
  it('lists events, newest first, with the decrypted address', async () => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const otherCustomer = await createPhoneVerifiedCustomer(app);
    await logIn(app, otherCustomer.id);
    await logIn(app, id);
    app.effects.set(app.effects.now() + 1);
    await start(id, {});
    app.effects.set(app.effects.now() + 1);
    await runJson('unlock', id, ...DECISION);
    const allEvents = await runJson('events', id);
    expect(allEvents.map(({ type }: { type: string }) => type)).toEqual([
      ...['UNLOCKED', 'RESET_STARTED', 'LOGIN'],
    ]);
    expect(allEvents[0]).toMatchObject({ actor: 'Ada', reason: 'seen by video', ipAddress: null });
    expect(allEvents[2]).toMatchObject({ factor: 'SMS_OTP', ipAddress: ADDRESS, actor: null });
    const [firstResult] = await app.runtime.db.query(
      'select row_to_json(e)::text as row from sca_events e where id = $1',
      [allEvents[2].eventId],
    );
    expect(firstResult?.row).not.toContain(ADDRESS);
    expect(await runJson('events', id, '--limit', '1', '--after', allEvents[0].eventId)).toEqual([
      allEvents[1],
    ]);
    const { out } = await run('events', id);
    expect(cellsOf(out)[0]).toEqual([
      ...['AT', 'EVENT', 'FACTOR', 'ABOUT', 'FROM', 'ACTOR', 'REASON'],
    ]);
    expect(out).toContain(ADDRESS);
    await expectRejected(
      'Event not found.',
      'events',
      otherCustomer.id,
      '--after',
      allEvents[0].eventId,
    );
  });
});
