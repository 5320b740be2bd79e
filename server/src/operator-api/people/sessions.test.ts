// Sessions of users: their expiry, the rejection of stolen cookies, and users whom administrators
// change, disable and recover.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import {
  type Browser,
  browser,
  enrollWithPasskey,
  firstAdministrator,
  newDevice,
  PASSWORD,
  signIn,
} from '../../../test/kit/operator/people.ts';
import { codeAt, registrationJson } from '../../../test/kit/sca/factors.ts';
import type { Authenticator } from '../../../test/kit/wallets/authenticator.ts';

const app = testApp();
const tokens = operatorClient(app);
let administrator: Browser;
let device: Authenticator;
let administratorId: string;

beforeAll(async () => {
  const administratorSignIn = await firstAdministrator(app);
  ({ person: administrator, device } = administratorSignIn);
  administratorId = administratorSignIn.user.id;
});

const invite = async (email: string, fields: object = {}) => {
  const body = { name: 'Grace', email, roles: ['support'], ...fields };
  return ok(await administrator.call('POST', '/operator-users', { body }), 201);
};

/** A new user who is signed in. */
async function createUser(email: string, fields: object = {}) {
  const { id, link } = await invite(email, fields);
  const person = browser(app);
  const enrollment = await enrollWithPasskey(person, link.secret);
  ok(enrollment.reply, 201);
  return { id: id as string, person, device: enrollment.device };
}

const statusOf = async ({ call }: Browser) => (await call('GET', '/session')).status;

describe('a session', () => {
  it('has cookies that scripts and other sites cannot use', async () => {
    const person = browser(app);
    const options = await person.call('POST', '/sign-in/passkey-options');
    const signInReply = await signIn(person, device);
    const cookies = [options, signInReply].flatMap(({ headers }) => headers['set-cookie'] ?? []);
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^operator-(session|device)=rh[bi]_[\w-]{43}; /);
      expect(cookie).toContain('HttpOnly; SameSite=Strict');
    }
  });

  it('requires the cookie of its browser', async () => {
    const { person } = await createUser('stolen@example.com');
    const otherBrowser = browser(app);
    ok(await otherBrowser.call('POST', '/sign-in/passkey-options'), 200);
    otherBrowser.cookies.set('operator-session', person.cookies.get('operator-session') ?? '');
    expect(await statusOf(otherBrowser)).toBe(401);
    expect(await statusOf(person)).toBe(200);
  });

  it('rejects changes without its CSRF token', async () => {
    const { person } = await createUser('csrf@example.com');
    const { person: otherPerson } = await createUser('csrf2@example.com');
    for (const csrfToken of [null, '', 'x', otherPerson.csrfToken() ?? '']) {
      const reply = await person.call('POST', '/session/end-others', { csrfToken });
      expect(reply).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
    ok(await person.call('POST', '/session/end-others'), 200);
  });

  it('rejects changes from pages of other sites', async () => {
    const { person } = await createUser('origin@example.com');
    for (const origin of ['https://evil.example', 'http://localhost:8081', 'null', '']) {
      const reply = await person.call('POST', '/session/end-others', { headers: { origin } });
      expect(reply).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
    const headers = { origin: 'http://localhost:8080' };
    ok(await person.call('POST', '/session/end-others', { headers }), 200);
  });

  it('expires after 30 minutes without a request, and after 12 hours', async () => {
    const { person } = await createUser('idle@example.com');
    const advanceMinutes = (minutes: number) =>
      app.effects.set(app.effects.now() + minutes * 60_000);
    for (let minutes = 0; minutes < 12 * 60 - 29; minutes += 29) {
      advanceMinutes(29);
      expect(await statusOf(person)).toBe(200);
    }
    advanceMinutes(29);
    expect(await statusOf(person)).toBe(401);
    ok(await signIn(administrator, device), 201);
    const { person: idlePerson } = await createUser('idle2@example.com');
    advanceMinutes(31);
    expect(await statusOf(idlePerson)).toBe(401);
    ok(await signIn(administrator, device), 201);
  });

  it('ends when its user signs out or an administrator ends it', async () => {
    const { id, person, device: ownDevice } = await createUser('out@example.com');
    ok(await person.call('DELETE', '/session'), 200);
    expect(await statusOf(person)).toBe(401);
    const { session } = ok(await signIn(person, ownDevice), 201);
    const listedSessions = ok(
      await administrator.call('GET', `/operator-sessions?operatorUserId=${id}`),
      200,
    );
    expect(listedSessions.data.map(({ status }: { status: string }) => status)).toEqual([
      'ACTIVE',
      'ENDED',
    ]);
    ok(await administrator.call('DELETE', `/operator-sessions/${session.id}`), 200);
    expect(await statusOf(person)).toBe(401);
  });

  it('ends when its user ends all other sessions', async () => {
    const { person, device: ownDevice } = await createUser('others@example.com');
    const secondBrowser = browser(app);
    ok(await signIn(secondBrowser, ownDevice), 201);
    ok(await secondBrowser.call('POST', '/session/end-others'), 200);
    expect([await statusOf(person), await statusOf(secondBrowser)]).toEqual([401, 200]);
  });
});

describe('a user', () => {
  it('loses a role with the next request', async () => {
    const { id, person } = await createUser('role@example.com', { roles: ['administrator'] });
    ok(await person.call('GET', '/operator-users'), 200);
    const body = { roles: ['viewer'] };
    ok(await administrator.call('PATCH', `/operator-users/${id}`, { body }), 200);
    expect((await person.call('GET', '/operator-users')).status).toBe(403);
  });

  it('cannot sign in or use a session while disabled', async () => {
    const { id, person, device: ownDevice } = await createUser('off@example.com');
    const setDisabled = (isDisabled: boolean) =>
      administrator.call('PATCH', `/operator-users/${id}`, { body: { isDisabled } });
    expect(ok(await setDisabled(true), 200).status).toBe('DISABLED');
    expect(await statusOf(person)).toBe(401);
    expect((await signIn(browser(app), ownDevice)).status).toBe(401);
    ok(await setDisabled(false), 200);
    // The old session and the old link remain invalid.
    expect(await statusOf(person)).toBe(401);
    ok(await signIn(browser(app), ownDevice), 201);
    const invitation = await invite('off2@example.com');
    const path = `/operator-users/${invitation.id}`;
    for (const isDisabled of [true, false]) {
      ok(await administrator.call('PATCH', path, { body: { isDisabled } }), 200);
    }
    const { secret } = invitation.link;
    expect((await browser(app).call('POST', '/enrollment', { body: { secret } })).status).toBe(410);
  });

  it('limits the rights of the tokens that it has created', async () => {
    const { id, person } = await createUser('tokens@example.com', { roles: ['administrator'] });
    const token = { name: 'Own', roles: ['administrator'], expiresInDays: 1 };
    const { secret } = ok(await person.call('POST', '/operator-tokens', { body: token }), 201);
    const readUserListStatus = async () =>
      (await tokens.call('GET', '/operator-users', { secret })).status;
    const change = async (body: object) =>
      ok(await administrator.call('PATCH', `/operator-users/${id}`, { body }), 200);
    expect(await readUserListStatus()).toBe(200);
    await change({ roles: ['viewer'] });
    expect(await readUserListStatus()).toBe(403);
    await change({ roles: ['administrator'], platformIds: [app.platform.id] });
    expect(await readUserListStatus()).toBe(403);
    const otherPlatformReply = await tokens.call('GET', `/platforms/${app.other.id}`, { secret });
    expect(otherPlatformReply.status).toBe(404);
    await change({ isDisabled: true });
    expect(await readUserListStatus()).toBe(401);
  });

  it('can be restricted to one platform', async () => {
    const { person } = await createUser('one@example.com', { platformIds: [app.platform.id] });
    ok(await person.call('GET', `/platforms/${app.platform.id}`), 200);
    expect((await person.call('GET', `/platforms/${app.other.id}`)).status).toBe(404);
    expect((await person.call('GET', '/operator-users')).status).toBe(403);
  });

  it('cannot change itself, have a used e-mail address, or create users without permission', async () => {
    const body = { roles: ['viewer'] };
    const rejectedReply = await administrator.call('PATCH', `/operator-users/${administratorId}`, {
      body,
    });
    expect(rejectedReply.status).toBe(400);
    const duplicateUser = { name: 'Namesake', email: 'ADA@example.com', roles: ['viewer'] };
    expect(
      await administrator.call('POST', '/operator-users', { body: duplicateUser }),
    ).toMatchObject({
      status: 409,
    });
    const supportUser = await createUser('less@example.com');
    const forbiddenReply = await supportUser.person.call('POST', '/operator-users', {
      body: duplicateUser,
    });
    expect(forbiddenReply.status).toBe(403);
  });

  it('without a sign-in method is recovered by two administrators, which ends the old methods', async () => {
    const { id, person, device: lostDevice } = await createUser('lost@example.com');
    const secondAdministrator = await createUser('second@example.com', {
      roles: ['administrator'],
    });
    const path = `/operator-users/${id}/recover`;
    const requestedReply = await administrator.call('POST', path, {
      body: { reason: 'lost phone' },
    });
    expect(requestedReply).toMatchObject({ status: 202, body: { policyId: 'built-in' } });
    expect(JSON.stringify(requestedReply.body)).not.toContain('rhe_');
    const approvePath = `/approvals/${requestedReply.body.id}/approve`;
    const reasonBody = { reason: 'Confirmed by telephone' };
    expect((await administrator.call('POST', approvePath, { body: reasonBody })).status).toBe(403);
    const { reply } = ok(
      await secondAdministrator.person.call('POST', approvePath, { body: reasonBody }),
      200,
    );
    const enrollment = await enrollWithPasskey(browser(app), reply.link.secret);
    ok(enrollment.reply, 201);
    expect(await statusOf(person)).toBe(401);
    expect((await signIn(browser(app), lostDevice)).status).toBe(401);
    ok(await signIn(browser(app), enrollment.device), 201);
  });

  it('cannot approve changes that it or its token requested', async () => {
    const policy = { operationId: 'endOperatorSession', hours: 24, reason: 'test' };
    const createdPolicy = ok(
      await tokens.call('POST', '/approval-policies', { body: policy }),
      201,
    );
    const { person } = await createUser('self@example.com', { roles: ['administrator'] });
    const token = { name: 'Own', roles: ['administrator'], expiresInDays: 1 };
    const { secret } = ok(await person.call('POST', '/operator-tokens', { body: token }), 201);
    const secondRequest = { body: { ...token, name: 'Second' }, secret };
    const { secret: derivedSecret } = ok(
      await tokens.call('POST', '/operator-tokens', secondRequest),
      201,
    );
    const { session } = ok(await administrator.call('GET', '/session'), 200);
    const requestedReply = await tokens.call('DELETE', `/operator-sessions/${session.id}`, {
      secret: derivedSecret,
    });
    expect(requestedReply.status).toBe(202);
    const body = { reason: 'Own request' };
    const approvePath = `/approvals/${requestedReply.body.id}/approve`;
    expect((await person.call('POST', approvePath, { body })).status).toBe(403);
    expect((await tokens.call('POST', approvePath, { body, secret })).status).toBe(403);
    ok(await tokens.call('DELETE', `/approval-policies/${createdPolicy.id}`), 200);
  });
});

describe('own passkeys', () => {
  it('can be added and removed after a recent sign-in, except the last one', async () => {
    const { person, device: firstDevice } = await createUser('keys@example.com');
    const add = async () => {
      const options = await person.call('POST', '/session/passkey-options');
      if (options.status !== 200) return options;
      const credential = registrationJson(newDevice(), options.body.publicKey.challenge);
      const body = { name: 'Key', state: options.body.state, credential };
      return person.call('POST', '/session/passkeys', { body });
    };
    const { id } = ok(await add(), 201);
    const otherBrowser = browser(app);
    ok(await signIn(otherBrowser, firstDevice), 201);
    const { data } = ok(await person.call('GET', '/session/passkeys'), 200);
    expect(data).toHaveLength(2);
    ok(await person.call('DELETE', `/session/passkeys/${data[0].id}`), 200);
    expect([await statusOf(otherBrowser), await statusOf(person)]).toEqual([401, 200]);
    expect((await person.call('DELETE', `/session/passkeys/${id}`)).status).toBe(409);
    app.effects.set(app.effects.now() + 11 * 60_000);
    expect(await add()).toMatchObject({ status: 403 });
  });
});

describe('own password', () => {
  it('can be set after a recent sign-in, which ends other sessions', async () => {
    const { person, device: ownDevice } = await createUser('password@example.com');
    const otherBrowser = browser(app);
    ok(await signIn(otherBrowser, ownDevice), 201);
    const { secret, state } = ok(await person.call('POST', '/session/totp'), 200);
    const code = codeAt(secret, app.effects.now());
    const body = { state, password: PASSWORD, code };
    expect(ok(await person.call('PUT', '/session/password', { body }), 200).hasPassword).toBe(true);
    expect([await statusOf(otherBrowser), await statusOf(person)]).toEqual([401, 200]);
    app.effects.set(app.effects.now() + 30_000);
    const nextSignIn = { email: 'password@example.com', password: PASSWORD };
    const signInBody = { ...nextSignIn, code: codeAt(secret, app.effects.now()) };
    ok(await otherBrowser.call('POST', '/sign-in/password', { body: signInBody }), 201);
  });
});

describe('the audit log', () => {
  it('records the invitation and the enrollment of a user with their actors', async () => {
    const { id } = await createUser('audited@example.com');
    const records = ok(await administrator.call('GET', '/audit-records?limit=5'), 200).data;
    expect(records[0]).toMatchObject({
      operationId: 'enrollPasskey',
      actor: { kind: 'USER', id },
      subject: id,
      address: '127.0.0.1',
    });
    expect(records[1]).toMatchObject({
      operationId: 'createOperatorUser',
      actor: { kind: 'USER', id: administratorId },
    });
  });

  it('contains no secrets, like the process log', async () => {
    const { link } = await invite('secret@example.com');
    const [record] = (await tokens.recordsOf('createOperatorUser')) as unknown as { id: string }[];
    const changes = ok(
      await administrator.call('GET', `/audit-records/${record?.id}/changes`),
      200,
    );
    const secrets = [link.secret, ...administrator.cookies.values(), administrator.csrfToken()];
    for (const text of [JSON.stringify(changes), app.log.join('\n')]) {
      for (const each of secrets) expect(text).not.toContain(each);
    }
  });
});
