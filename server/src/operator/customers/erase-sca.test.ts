// A customer's strong customer authentication in an export, and after an erasure.
import { expect, it } from 'vitest';
import { createExternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { exportOf } from '../../../test/kit/customers/export.ts';
import { factorFixture } from '../../../test/kit/sca/factors.ts';
import { loginFixture } from '../../../test/kit/sca/login.ts';
import {
  ADDRESS,
  createPhoneVerifiedCustomer,
  logIn,
} from '../../../test/kit/sca/strong-customers.ts';
import {
  scaChallenges,
  scaEnrollments,
  scaFactors,
  scaResets,
} from '../../features/sca/authentication/store.ts';
import { scaEvents } from '../../features/sca/events/events.ts';
import { scaLockouts } from '../../features/sca/lockout/lockout.ts';

const app = testApp();

/**
 * A customer with an authenticator app, a passkey, a login, a failure, a reset, and a pending
 * challenge and enrollment.
 */
async function createScaHistory() {
  const person = await createPhoneVerifiedCustomer(app);
  const { id } = person;
  const factors = factorFixture(app);
  const { secret, base32, recoveryCodes } = await factors.enrollTotp(id);
  await factors.enrollPasskey(id);
  await logIn(app, id);
  ok(await loginFixture(app).fail(id), 200);
  const body = { factor: 'TOTP' };
  const reset = ok(await app.call('POST', `/sca/factors/reset?customerId=${id}`, body), 201);
  const account = await createExternalAccount(app, id, 'EUR');
  ok(await app.call('POST', `/customers/external-accounts/${account.id}/trust`), 200);
  ok(await factors.startEnrollment(id, 'TOTP'), 200);
  return { id: id as string, secrets: [secret, base32, ...recoveryCodes], reset };
}

const codesOf = (id: string) =>
  app.runtime.db.query(
    `select c.id from codes c join sca_challenges k on c.id = 'sca ' || k.id where k.customer_id = $1`,
    [id],
  );

it('SCA data is exported with decrypted addresses and without secrets', async () => {
  const { id, secrets, reset } = await createScaHistory();
  const { text, all } = await exportOf(app, id);
  expect(all.sca_lockouts).toMatchObject([{ id, failed_attempts: 1, suspended: false }]);
  expect(all.sca_factors.map(({ type }: { type: string }) => type).sort()).toEqual([
    ...['PASSKEY', 'TOTP'],
  ]);
  expect(all.sca_enrollments).toMatchObject([{ customer_id: id, wrong: 0 }]);
  const challenges = all.sca_challenges.map(({ kind, status }: Record<string, string>) => [
    kind,
    status,
  ]);
  expect(challenges).toEqual([
    ['LOGIN', 'SATISFIED'],
    ['TRUST', 'PENDING'],
  ]);
  expect(all.sca_resets).toMatchObject([{ id: reset.resetId, status: 'INITIATED' }]);
  const login = all.sca_events.find(({ type }: { type: string }) => type === 'LOGIN');
  expect(login).toMatchObject({ factor: 'SMS_OTP', ip_address: ADDRESS });
  for (const hiddenText of ['"facts"', '"recovery"', '"nonce"', '"token_hash"']) {
    const sections = [all.sca_factors, all.sca_enrollments, all.sca_challenges, all.sca_resets];
    expect(JSON.stringify(sections)).not.toContain(hiddenText);
  }
  for (const secret of [...secrets, reset.livenessAccessToken]) expect(text).not.toContain(secret);
});

it('SCA data is removed by an erasure, except for types and times of events', async () => {
  const { id } = await createScaHistory();
  const otherCustomer = await createScaHistory();
  expect((await codesOf(id)).length).toBeGreaterThan(0);
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  const { db } = app.runtime;
  const storedEvents = await db.find(scaEvents, { customer_id: id });
  const { counts } = await erase(app.runtime, id, { actor: 'test', reason: null });
  expect(counts).toMatchObject({
    ...{ sca_lockouts: 1, sca_factors: 2, sca_enrollments: 1, sca_challenges: 2, sca_resets: 1 },
    codes: 1,
  });
  expect(await db.read(scaLockouts, id)).toBeUndefined();
  for (const table of [scaFactors, scaEnrollments, scaChallenges, scaResets]) {
    expect(await db.find(table, { customer_id: id })).toEqual([]);
    expect((await db.find(table, { customer_id: otherCustomer.id })).length).toBeGreaterThan(0);
  }
  expect((await codesOf(otherCustomer.id)).length).toBeGreaterThan(0);
  // The job that would have completed the reset finds no reset.
  await app.advance(60 * 60_000);
  expect(await db.find(scaEvents, { customer_id: id })).toEqual(storedEvents);
  const { all } = await exportOf(app, id);
  expect(all.sca_events).toHaveLength(storedEvents.length);
  for (const event of all.sca_events) expect(event.ip_address).toBeNull();
});
