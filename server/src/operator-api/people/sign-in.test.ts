// Enrollment and sign-in of users with passkeys, or with a password and an authenticator app, and all
// rejections.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import {
  type Browser,
  beginSignIn,
  browser,
  enrollWithPasskey,
  enrollWithPassword,
  firstAdministrator,
  newDevice,
  PASSWORD,
  signIn,
} from '../../../test/kit/operator/people.ts';
import { codeAt, registrationJson } from '../../../test/kit/sca/factors.ts';
import type { Authenticator } from '../../../test/kit/wallets/authenticator.ts';
import { enrollment } from '../../features/staff/users/index.ts';

const app = testApp();
let administrator: Browser;
let device: Authenticator;

beforeAll(async () => {
  ({ person: administrator, device } = await firstAdministrator(app));
});

let invitationCount = 0;

/** Invites a user. Returns the ID, the e-mail address and the secret of the link. */
async function invite(roles = ['viewer']) {
  invitationCount += 1;
  const email = `user${invitationCount}@example.com`;
  const body = { name: `User ${invitationCount}`, email, roles };
  const { id, link } = ok(await administrator.call('POST', '/operator-users', { body }), 201);
  return { id: id as string, email, secret: link.secret as string };
}

describe('the first administrator', () => {
  it('enrolls with a name and an address, and is signed in', async () => {
    const { body } = await administrator.call('GET', '/session');
    expect(body).toMatchObject({
      session: { method: 'PASSKEY', status: 'ACTIVE' },
      user: { name: 'Ada Admin', email: 'ada@example.com', roles: ['administrator'] },
      csrfToken: administrator.csrfToken(),
    });
    expect(body.permissions).toContain('staff.manage');
  });

  it('receives no further link', async () => {
    expect(await enrollment.firstAdministratorLink(app.runtime)).toBeUndefined();
  });
});

describe('a link', () => {
  it('shows its user, and can be used once', async () => {
    const { secret, email } = await invite();
    const person = browser(app);
    const details = await person.call('POST', '/enrollment', { body: { secret } });
    expect(details.body).toMatchObject({ kind: 'ENROLLMENT', email, needsIdentity: false });
    const { reply, input } = await enrollWithPasskey(person, secret);
    expect(reply).toMatchObject({ status: 201, body: { user: { email, status: 'ACTIVE' } } });
    const repeatedReply = await browser(app).call('POST', '/enrollment/passkey', { body: input });
    expect(repeatedReply).toMatchObject({ status: 410, body: { code: 'LINK_ENDED' } });
  });

  it('expires after a day, and is invalid once its user is disabled', async () => {
    const [expiringInvitation, disabledInvitation] = [await invite(), await invite()];
    const body = { isDisabled: true };
    ok(
      await administrator.call('PATCH', `/operator-users/${disabledInvitation.id}`, { body }),
      200,
    );
    const statusOf = async (secret: string) =>
      (await browser(app).call('POST', '/enrollment', { body: { secret } })).status;
    expect([
      await statusOf(expiringInvitation.secret),
      await statusOf(disabledInvitation.secret),
    ]).toEqual([200, 410]);
    app.effects.set(app.effects.now() + 24 * 3_600_000);
    expect(await statusOf(expiringInvitation.secret)).toBe(410);
    ok(await signIn(administrator, device), 201);
  });

  it('is accepted once for concurrent enrollments', async () => {
    const { secret } = await invite();
    const replies = await Promise.all([
      enrollWithPasskey(browser(app), secret),
      enrollWithPasskey(browser(app), secret),
    ]);
    expect(replies.map(({ reply }) => reply.status).sort()).toEqual([201, 410]);
  });
});

describe('a passkey', () => {
  it('signs its user in without a user name', async () => {
    const reply = await signIn(browser(app), device);
    expect(reply).toMatchObject({ status: 201, body: { user: { name: 'Ada Admin' } } });
  });

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another site', { rpId: 'evil.example' }],
    ['a missing user verification', { userVerified: false }],
    ['another type', { type: 'webauthn.create' }],
  ])('is rejected with %s', async (_name, ceremony) => {
    expect((await signIn(browser(app), device, ceremony)).status).toBe(401);
  });

  it('is accepted once for concurrent sign-ins with different counters', async () => {
    const person = browser(app);
    const { secret } = await invite();
    const { device: countingDevice, reply } = await enrollWithPasskey(person, secret);
    ok(reply, 201);
    const ceremonies = [await beginSignIn(browser(app)), await beginSignIn(browser(app))] as const;
    const replies = await Promise.all([
      ceremonies[0].complete(countingDevice, { counter: 90 }),
      ceremonies[1].complete(countingDevice, { counter: 50 }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 401]);
  });

  it('is rejected if it is not registered', async () => {
    expect((await signIn(browser(app), newDevice())).status).toBe(401);
  });

  it('can answer a challenge once, in the same browser, within ten minutes', async () => {
    const person = browser(app);
    const firstCeremony = await beginSignIn(person);
    ok(await firstCeremony.complete(device), 201);
    expect((await firstCeremony.complete(device)).status).toBe(409);
    const secondCeremony = await beginSignIn(person);
    const otherBrowser = browser(app);
    await beginSignIn(otherBrowser);
    const copiedCeremony = { state: secondCeremony.state, credential: {} };
    const credential = registrationJson(device, secondCeremony.publicKey.challenge);
    const body = {
      ...copiedCeremony,
      credential: { ...credential, response: { ...createInvalidAssertion() } },
    };
    expect(await otherBrowser.call('POST', '/sign-in/passkey', { body })).toMatchObject({
      status: 400,
    });
    app.effects.set(app.effects.now() + 10 * 60_000);
    expect((await secondCeremony.complete(device)).status).toBe(400);
  });

  it('must answer the challenge of its registration', async () => {
    const { secret } = await invite();
    const person = browser(app);
    const options = ok(
      await person.call('POST', '/enrollment/passkey-options', { body: { secret } }),
      200,
    );
    const credential = registrationJson(newDevice(), 'b3RoZXI');
    const body = { secret, state: options.state, passkeyName: 'Laptop', credential };
    const reply = await person.call('POST', '/enrollment/passkey', { body });
    expect(reply.status).toBe(400);
    expect(reply.body.details.errors[0].field).toBe('credential.response.clientDataJSON');
  });
});

const createInvalidAssertion = () => ({
  clientDataJSON: 'e30',
  authenticatorData: 'e30',
  signature: 'e30',
});

describe('a password', () => {
  const createUserWithPassword = async () => {
    const { email, secret } = await invite();
    const { totp, reply } = await enrollWithPassword(app, browser(app), secret);
    ok(reply, 201);
    app.effects.set(app.effects.now() + 30_000);
    return { email, totp, code: () => codeAt(totp, app.effects.now()) };
  };
  const signInWith = (body: object) => browser(app).call('POST', '/sign-in/password', { body });

  it('signs in with a code of the app, and each code works once', async () => {
    const { email, code } = await createUserWithPassword();
    const body = { email: email.toUpperCase(), password: PASSWORD, code: code() };
    expect(ok(await signInWith(body), 201).session.method).toBe('PASSWORD');
    expect((await signInWith(body)).status).toBe(401);
  });

  it('is rejected identically for a wrong password, a wrong code and an unknown user', async () => {
    const { email, code } = await createUserWithPassword();
    const validCredentials = { email, password: PASSWORD, code: code() };
    const wrongCode = String((Number(validCredentials.code) + 1) % 1_000_000).padStart(6, '0');
    const attempts = [
      { ...validCredentials, password: 'another-password' },
      { ...validCredentials, code: wrongCode },
      { ...validCredentials, email: 'unknown@example.com' },
    ];
    const messages = new Set<string>();
    for (const attempt of attempts) {
      const { status, body } = await signInWith(attempt);
      expect(status).toBe(401);
      messages.add(body.message);
    }
    expect(messages.size).toBe(1);
  });

  it.each(['of a user', 'of an unknown user'])(
    '%s has five attempts in 15 minutes',
    async (owner) => {
      const { email, code } = await createUserWithPassword();
      const body = {
        email: owner === 'of a user' ? email : `no-${email}`,
        password: 'x',
        code: '000000',
      };
      const replies = await Promise.all(Array.from({ length: 8 }, () => signInWith(body)));
      const rejectedCount = replies.filter(({ status }) => status === 401).length;
      expect(rejectedCount).toBe(5);
      expect(await signInWith({ ...body, password: PASSWORD, code: code() })).toMatchObject({
        status: 429,
        headers: { 'retry-after': expect.any(String) },
      });
    },
  );

  it.each(['password1234', 'the address of its user', 'aaaaaaaaaaaaaaaa', 'qwertyuiop123'])(
    'cannot be %s',
    async (weakPassword) => {
      const { secret, email } = await invite();
      const password = weakPassword.startsWith('the ') ? email : weakPassword;
      const { reply } = await enrollWithPassword(app, browser(app), secret, { password });
      expect(reply.status).toBe(400);
      expect(reply.body.details.errors).toEqual([expect.objectContaining({ field: 'password' })]);
    },
  );

  it('is rejected with a wrong code of the app', async () => {
    const { secret } = await invite();
    const { reply } = await enrollWithPassword(app, browser(app), secret, { code: '000000' });
    expect(reply.body.details.errors).toEqual([expect.objectContaining({ field: 'code' })]);
  });
});

describe('the site', () => {
  it.each(['127.0.0.1:8080', '[::1]:8080', '10.0.0.5', 'example.com', 'localhost.evil.example'])(
    'cannot be %s over plain HTTP',
    async (host) => {
      const reply = await browser(app, host).call('POST', '/sign-in/passkey-options');
      expect(reply).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      expect(reply.body.message).toContain('http://localhost');
    },
  );

  it('rejects requests from pages of another origin', async () => {
    const headers = { origin: 'https://evil.example' };
    const reply = await browser(app).call('POST', '/sign-in/passkey-options', { headers });
    expect(reply.status).toBe(403);
  });
});
