// Rejected sign-ins leave audit records about the user concerned, up to the limit of attempts.
// Sign-ins of unknown users leave no audit record. Entered values are never stored.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import {
  type Browser,
  browser,
  enrollWithPasskey,
  enrollWithPassword,
  firstAdministrator,
  newDevice,
  PASSWORD,
  signIn,
} from '../../../test/kit/operator/people.ts';
import { codeAt } from '../../../test/kit/sca/factors.ts';
import { verifyAudit } from '../../features/staff/audit/index.ts';

const app = testApp();
const client = operatorClient(app);
let administrator: Browser;

beforeAll(async () => {
  ({ person: administrator } = await firstAdministrator(app));
});

let userNumber = 0;

async function invite() {
  userNumber += 1;
  const body = {
    name: `User ${userNumber}`,
    email: `user${userNumber}@example.com`,
    roles: ['viewer'],
  };
  const { id, link } = ok(await administrator.call('POST', '/operator-users', { body }), 201);
  return { id: id as string, email: body.email, secret: link.secret as string };
}

async function createUserWithPassword() {
  const invitation = await invite();
  const { totp, reply } = await enrollWithPassword(app, browser(app), invitation.secret);
  ok(reply, 201);
  app.effects.set(app.effects.now() + 30_000);
  return { ...invitation, code: () => codeAt(totp, app.effects.now()) };
}

const disable = async (id: string) => {
  const body = { isDisabled: true };
  ok(await administrator.call('PATCH', `/operator-users/${id}`, { body }), 200);
};

/** Reasons of the rejections of a user, newest first. */
async function rejectionsOf(id: string): Promise<string[]> {
  const { body } = await client.call('GET', `/audit-records?actorId=${id}&limit=100`);
  return body.data
    .filter(({ reason = '' }) => reason.startsWith('Rejected'))
    .map(({ operationId, reason, actor, subject }: Record<string, unknown>) => {
      expect([actor, subject]).toMatchObject([{ kind: 'USER', id, roles: [] }, id]);
      return `${operationId} ${reason}`;
    });
}

const countAuditRecords = async () => (await verifyAudit(app.runtime)).records;

const signInWith = (body: object) => browser(app).call('POST', '/sign-in/password', { body });

describe('a rejected password', () => {
  it('is recorded with its reason and without the submitted secrets', async () => {
    const { id, email, code } = await createUserWithPassword();
    const wrongCode = String((Number(code()) + 1) % 1_000_000).padStart(6, '0');
    await signInWith({ email, password: 'another-secret-password', code: code() });
    await signInWith({ email, password: PASSWORD, code: wrongCode });
    await disable(id);
    const validCredentials = { email, password: PASSWORD, code: code() };
    expect((await signInWith(validCredentials)).status).toBe(401);
    expect(await rejectionsOf(id)).toEqual([
      'signInWithPassword Rejected: disabled user.',
      'signInWithPassword Rejected: wrong code.',
      'signInWithPassword Rejected: wrong password.',
    ]);
    const rows = JSON.stringify(
      await app.runtime.db.query('select * from operator_audit where actor_id = $1', [id]),
      (_name, value) => (typeof value === 'bigint' ? String(value) : value),
    );
    for (const secret of ['another-secret-password', PASSWORD, wrongCode, email]) {
      expect(rows).not.toContain(secret);
    }
    expect((await verifyAudit(app.runtime)).problems).toEqual([]);
  });

  it('is recorded for each permitted attempt', async () => {
    const { id, email } = await createUserWithPassword();
    const body = { email, password: 'x', code: '000000' };
    const replies = await Promise.all(Array.from({ length: 9 }, () => signInWith(body)));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(await rejectionsOf(id)).toHaveLength(5);
  });

  it('is not recorded for an unknown user, with a similar response time', async () => {
    const { id, email } = await createUserWithPassword();
    const measureTime = async (address: string) => {
      const start = performance.now();
      await signInWith({ email: address, password: 'x', code: '000000' });
      return performance.now() - start;
    };
    const countBefore = await countAuditRecords();
    const unknownUserTimes = [];
    const knownUserTimes = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      unknownUserTimes.push(await measureTime(`unknown@example.com`));
      knownUserTimes.push(await measureTime(email));
    }
    expect((await countAuditRecords()) - countBefore).toBe(5);
    expect(await rejectionsOf(id)).toHaveLength(5);
    // The comparison of a password takes most of the time, with or without a user.
    const median = (times: number[]) => times.sort((a, b) => a - b)[2] ?? 0;
    const ratio = median(knownUserTimes) / median(unknownUserTimes);
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(2.5);
    const { length } = await app.runtime.db.query(
      "select id from attempt_limits where id = 'operator sign-in of no user'",
    );
    expect(length).toBe(1);
  });
});

describe('a rejected passkey', () => {
  it('is recorded five times, and does not block the passkey', async () => {
    const { id, secret } = await invite();
    const { device, reply } = await enrollWithPasskey(browser(app), secret);
    ok(reply, 201);
    for (let attempt = 0; attempt < 7; attempt++) {
      const { status, body } = await signIn(browser(app), device, {
        origin: 'https://evil.example',
      });
      expect([status, body.reason]).toEqual([
        401,
        'The sign-in was not accepted. Begin the sign-in again.',
      ]);
    }
    const expectedText = 'signInWithPasskey Rejected: the response of the passkey is invalid.';
    expect(await rejectionsOf(id)).toEqual(Array(5).fill(expectedText));
    ok(await signIn(browser(app), device), 201);
    await disable(id);
    app.effects.set(app.effects.now() + 15 * 60_000);
    expect((await signIn(browser(app), device)).status).toBe(401);
    expect((await rejectionsOf(id))[0]).toBe('signInWithPasskey Rejected: disabled user.');
  });

  it('is not recorded if the passkey is unknown', async () => {
    const countBefore = await countAuditRecords();
    expect((await signIn(browser(app), newDevice())).status).toBe(401);
    expect(await countAuditRecords()).toBe(countBefore);
  });
});

describe('a rejected link', () => {
  it('is recorded for its user if the link has ended, and not if it is unknown', async () => {
    const { id, secret } = await invite();
    const { input, reply } = await enrollWithPasskey(browser(app), secret);
    ok(reply, 201);
    const countBefore = await countAuditRecords();
    const unknownReply = await browser(app).call('POST', '/enrollment', {
      body: { secret: 'rhe_x' },
    });
    expect([unknownReply.status, await countAuditRecords()]).toEqual([410, countBefore]);
    const { call } = browser(app);
    const statuses = [
      await call('POST', '/enrollment', { body: { secret } }),
      await call('POST', '/enrollment/totp', { body: { secret } }),
      await call('POST', '/enrollment/passkey-options', { body: { secret } }),
      await call('POST', '/enrollment/passkey', { body: input }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([410, 410, 410, 410]);
    expect(await rejectionsOf(id)).toEqual(
      ['enrollPasskey', 'getEnrollmentPasskeyOptions', 'getEnrollmentTotp', 'showEnrollment'].map(
        (each) => `${each} Rejected: used or expired link.`,
      ),
    );
  });
});
