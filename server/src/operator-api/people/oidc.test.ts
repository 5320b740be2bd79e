// Sign-in at an identity provider with the complete authorization code flow, and all rejections.
import { createServer } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../test/kit/app/harness.ts';
import { openForFile, testApp } from '../../../test/kit/app/test-app.ts';
import {
  type Account,
  CLIENT,
  startIdentityProvider,
} from '../../../test/kit/operator/identity-provider.ts';
import { type Browser, browser, firstAdministrator } from '../../../test/kit/operator/people.ts';
import { groupRolesOf } from '../../runtime/config/identity-provider.ts';

const settingsOf = (issuer: string, clientId = CLIENT.id) => ({
  issuer,
  clientId,
  clientSecret: clientId === 'public' ? undefined : CLIENT.secret,
  roles: groupRolesOf('admins=administrator;ops=support+treasury;cn=read,ou=x=viewer'),
  groupsClaim: 'groups',
});

/** Tokens expire by the clock of the machine. */
const atRealTime = (issuer: string, clientId?: string) => ({
  start: Date.now(),
  operatorOidc: settingsOf(issuer, clientId),
});

type Provider = Awaited<ReturnType<typeof startIdentityProvider>>;

const beginSignIn = async ({ call }: Browser) =>
  ok(await call('POST', '/sign-in/oidc-options'), 200) as {
    state: string;
    authorizationUrl: string;
  };

const finishSignIn = ({ call }: Browser, state: string, callbackUrl: string) =>
  call('POST', '/sign-in/oidc', { body: { state, callbackUrl } });

const withParameter = (url: string, name: string, value: string) => {
  const parsedUrl = new URL(url);
  parsedUrl.searchParams.set(name, value);
  return parsedUrl.href;
};

const provider = openForFile(() => startIdentityProvider());
const app = testApp(() => atRealTime(provider.issuer));
let administrator: Browser;

beforeAll(async () => {
  ({ person: administrator } = await firstAdministrator(app));
});

let accountCount = 0;

function addAccount(details: Account): string {
  accountCount += 1;
  provider.accounts.set(`subject-${accountCount}`, details);
  return `subject-${accountCount}`;
}

async function signIn(
  subject: string,
  person = browser(app),
  identityProvider: Provider = provider,
) {
  const { state, authorizationUrl } = await beginSignIn(person);
  return finishSignIn(person, state, await identityProvider.signIn(authorizationUrl, subject));
}

const changeUser = (id: string, body: object) =>
  administrator.call('PATCH', `/operator-users/${id}`, { body });

/** The reason of the last rejected sign-in of a user. */
async function rejectionOf(id: string): Promise<string | undefined> {
  const path = `/audit-records?operationId=signInWithOidc&subject=${id}`;
  const { body } = await administrator.call('GET', path);
  return body.data[0]?.reason;
}

describe('a sign-in at the identity provider', () => {
  it('creates the user with the roles of its groups, and opens a session', async () => {
    const person = browser(app);
    const groups = ['ops', 'staff', 'cn=read,ou=x'];
    const details = { name: 'Olga Ops', email: 'Olga@example.com', email_verified: true, groups };
    const reply = await signIn(addAccount(details), person);
    expect(reply).toMatchObject({
      status: 201,
      body: {
        session: { method: 'IDENTITY_PROVIDER', status: 'ACTIVE' },
        user: {
          ...{ name: 'Olga Ops', email: 'olga@example.com', platformIds: null, status: 'ACTIVE' },
          ...{ roles: ['support', 'treasury', 'viewer'], usesIdentityProvider: true },
          ...{ hasPassword: false, createdBy: 'identity provider' },
        },
      },
    });
    const session = await person.call('GET', '/session');
    expect(session.body.permissions).toContain('payments.settle');
    const records = await administrator.call(
      'GET',
      '/audit-records?operationId=signInWithOidc&limit=1',
    );
    expect(records.body.data[0]).toMatchObject({
      ...{ subject: reply.body.user.id, actor: { name: 'Olga Ops' } },
    });
  });

  it('requests a code with PKCE, state and nonce', async () => {
    const { authorizationUrl } = await beginSignIn(browser(app));
    const query = Object.fromEntries(new URL(authorizationUrl).searchParams);
    expect(query).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', client_id: CLIENT.id },
      ...{ redirect_uri: 'http://localhost:8080/operator/sign-in' },
      ...{ scope: 'openid profile email groups' },
      ...{ state: expect.stringMatching(/^.{43}$/), nonce: expect.stringMatching(/^.{43}$/) },
    });
  });

  it('stores only an e-mail address that the provider has verified', async () => {
    const reply = await signIn(addAccount({ groups: 'ops', email: 'no@example.com' }));
    expect(reply.status).toBe(201);
    expect(reply.body.user).not.toHaveProperty('email');
    expect(reply.body.user.name).toBe('no@example.com');
  });

  it('applies changed groups at the next sign-in, to the same user', async () => {
    const subject = addAccount({ groups: ['admins'] });
    const firstReply = await signIn(subject);
    provider.accounts.set(subject, { groups: ['ops'] });
    const secondReply = await signIn(subject);
    expect(secondReply.body.user).toMatchObject({
      id: firstReply.body.user.id,
      roles: ['support', 'treasury'],
    });
  });

  it('is rejected with FORBIDDEN without a role, and ends the sessions of the user', async () => {
    const subject = addAccount({ groups: ['admins'] });
    const person = browser(app);
    const { id } = (await signIn(subject, person)).body.user;
    provider.accounts.set(subject, { groups: ['others'] });
    expect(await signIn(subject)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect((await person.call('GET', '/session')).status).toBe(401);
    const { body } = await administrator.call('GET', '/operator-users');
    const storedUser = body.data.find((each: { id: string }) => each.id === id);
    expect(storedUser).toMatchObject({ roles: [], status: 'ACTIVE' });
    expect(await rejectionOf(id)).toBe('Rejected: groups without a role.');
    provider.accounts.set(subject, { groups: ['ops'] });
    expect((await signIn(subject)).body.user.id).toBe(id);
  });

  it.each([{}, { groups: [] }, { groups: ['admins '] }])(
    'creates no user for %j',
    async (details) => {
      const usersBefore = await administrator.call('GET', '/operator-users');
      expect((await signIn(addAccount(details))).status).toBe(403);
      const usersAfter = await administrator.call('GET', '/operator-users');
      expect(usersAfter.body.data).toHaveLength(usersBefore.body.data.length);
    },
  );

  it('is rejected with FORBIDDEN for a disabled user', async () => {
    const subject = addAccount({ groups: ['ops'] });
    const { id } = (await signIn(subject)).body.user;
    ok(await changeUser(id, { isDisabled: true }), 200);
    expect((await signIn(subject)).status).toBe(403);
    expect(ok(await changeUser(id, { name: 'X' }), 200).status).toBe('DISABLED');
    expect(await rejectionOf(id)).toBe('Rejected: disabled user.');
  });

  it('is rejected with CONFLICT if another user has the e-mail address', async () => {
    const subject = addAccount({
      groups: ['admins'],
      email: 'ADA@example.com',
      email_verified: true,
    });
    const reply = await signIn(subject);
    expect(reply).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(reply.body.message).toContain('e-mail address');
    const { body } = await administrator.call('GET', '/session');
    expect(await rejectionOf(body.user.id)).toBe('Rejected: identity of another person.');
  });
});

describe('a user of the identity provider', () => {
  it('has the roles of its groups and the platforms that administrators select', async () => {
    const { id } = (await signIn(addAccount({ groups: ['ops'] }))).body.user;
    const reply = await changeUser(id, { roles: ['administrator'] });
    expect(reply.status).toBe(400);
    expect(reply.body.details.errors[0].field).toBe('roles');
    const platformIds = [app.platform.id];
    expect(ok(await changeUser(id, { platformIds }), 200)).toMatchObject({ platformIds });
  });

  it('cannot be recovered, and cannot add another sign-in method', async () => {
    const person = browser(app);
    const { id } = (await signIn(addAccount({ groups: ['ops'] }), person)).body.user;
    const body = { reason: 'New phone' };
    const recovery = await administrator.call('POST', `/operator-users/${id}/recover`, { body });
    expect(recovery.status).toBe(400);
    const options = await person.call('POST', '/session/passkey-options');
    expect([options.status, (await person.call('POST', '/session/totp')).status]).toEqual([
      ...[403, 403],
    ]);
  });
});

describe('a callback', () => {
  const createSubject = () => addAccount({ groups: ['ops'] });

  it('is accepted once, even if it is sent concurrently', async () => {
    const person = browser(app);
    const { state, authorizationUrl } = await beginSignIn(person);
    const callback = await provider.signIn(authorizationUrl, createSubject());
    const requestsBefore = provider.tokenRequests();
    const replies = await Promise.all([1, 2].map(() => finishSignIn(person, state, callback)));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 409]);
    expect((await finishSignIn(person, state, callback)).status).toBe(409);
    // A provider revokes the tokens of a code that it receives twice.
    expect(provider.tokenRequests() - requestsBefore).toBe(1);
  });

  it('is rejected in another browser', async () => {
    const [person, otherPerson] = [browser(app), browser(app)];
    const { state, authorizationUrl } = await beginSignIn(person);
    await beginSignIn(otherPerson);
    const callback = await provider.signIn(authorizationUrl, createSubject());
    expect((await finishSignIn(otherPerson, state, callback)).status).toBe(400);
    expect((await finishSignIn(person, state, callback)).status).toBe(201);
  });

  it('is rejected with another state or after its expiry', async () => {
    const person = browser(app);
    const [firstSignIn, secondSignIn] = [await beginSignIn(person), await beginSignIn(person)];
    const callback = await provider.signIn(firstSignIn.authorizationUrl, createSubject());
    expect((await finishSignIn(person, secondSignIn.state, callback)).status).toBe(400);
    // The PKCE verifier of the other state does not match the code.
    const otherState = new URL(secondSignIn.authorizationUrl).searchParams.get('state') ?? '';
    const mixedCallback = withParameter(callback, 'state', otherState);
    expect((await finishSignIn(person, secondSignIn.state, mixedCallback)).status).toBe(401);
    const thirdSignIn = await beginSignIn(person);
    const lateCallback = await provider.signIn(thirdSignIn.authorizationUrl, createSubject());
    app.effects.set(app.effects.now() + 10 * 60_000);
    expect((await finishSignIn(person, thirdSignIn.state, lateCallback)).status).toBe(400);
  });

  it.each([
    ['the nonce of another sign-in', { nonce: 'another' }],
    ['the code of another client', { client_id: 'another' }],
  ])('is rejected with %s', async (_name, change) => {
    const person = browser(app);
    const { state, authorizationUrl } = await beginSignIn(person);
    const [[name, value]] = Object.entries(change) as [[string, string]];
    const callback = await provider.signIn(
      withParameter(authorizationUrl, name, value),
      createSubject(),
    );
    expect(callback).toContain('code=');
    expect((await finishSignIn(person, state, callback)).status).toBe(401);
  });

  it.each([
    ['another issuer', (url: string) => withParameter(url, 'iss', 'https://evil.example'), 401],
    ['an error', (url: string) => withParameter(url, 'error', 'access_denied'), 401],
    ['an unknown code', (url: string) => withParameter(url, 'code', 'invented'), 401],
    ['another path', (url: string) => url.replace('/operator/', '/other/'), 400],
    ['another host', (url: string) => url.replace('localhost', 'evil.example'), 400],
    ['a text that is no URL', () => 'code', 400],
  ])('is rejected with %s', async (_name, change, status) => {
    const person = browser(app);
    const { state, authorizationUrl } = await beginSignIn(person);
    const callback = await provider.signIn(authorizationUrl, createSubject());
    expect((await finishSignIn(person, state, change(callback))).status).toBe(status);
  });

  it.each([
    ['the signature of another key', {}, true],
    ['another audience', { aud: 'another' }, false],
    ['another issuer', { iss: 'https://evil.example' }, false],
    ['another nonce', { nonce: 'another' }, false],
    ['a past expiry', { exp: 1_000_000_000 }, false],
  ])('is rejected if the ID token has %s', async (_name, claims, isForged) => {
    provider.change({ claims, isForged });
    const reply = await signIn(createSubject());
    provider.change({ claims: {}, isForged: false });
    expect(reply.status).toBe(401);
    expect((await signIn(createSubject())).status).toBe(201);
  });
});

describe('the provider', () => {
  it('can return claims at its userinfo endpoint and accept a public client', async () => {
    const otherProvider = await startIdentityProvider('userinfo');
    otherProvider.accounts.set('una', { name: 'Una', groups: ['ops'] });
    const otherApp = await startApp(atRealTime(otherProvider.issuer, 'public'));
    const reply = await signIn('una', browser(otherApp), otherProvider);
    expect(reply.body).toMatchObject({ user: { name: 'Una', roles: ['support', 'treasury'] } });
    await Promise.all([otherApp.close(), otherProvider.close()]);
  });

  it('is reported with 503 if it is unreachable or rejects the client secret', async () => {
    const otherProvider = await startIdentityProvider();
    const operatorOidc = { ...settingsOf(otherProvider.issuer), clientSecret: 'wrong' };
    const otherApp = await startApp({ start: Date.now(), operatorOidc });
    const person = browser(otherApp);
    const { state, authorizationUrl } = await beginSignIn(person);
    const callback = await otherProvider.signIn(authorizationUrl, 'una');
    const secondSignIn = await beginSignIn(person);
    const otherCallback = await otherProvider.signIn(secondSignIn.authorizationUrl, 'una');
    const rejectedReply = await finishSignIn(person, state, callback);
    expect(rejectedReply).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
    expect(rejectedReply.body.message).toContain('client ID or secret');
    await otherProvider.close();
    const unavailableReply = await finishSignIn(person, secondSignIn.state, otherCallback);
    expect(unavailableReply.body.message).toBe(
      'The identity provider does not respond. Begin the sign-in again.',
    );
    otherApp.effects.set(otherApp.effects.now() + 3_600_000);
    expect((await person.call('POST', '/sign-in/oidc-options')).status).toBe(503);
    expect(otherApp.log.join()).not.toContain(CLIENT.secret);
    await otherApp.close();
  });

  it('is reported with 503 within seconds if it does not respond', async () => {
    const unresponsiveServer = createServer();
    await new Promise<void>((resolve) => unresponsiveServer.listen(0, '127.0.0.1', resolve));
    const { port } = unresponsiveServer.address() as { port: number };
    const otherApp = await startApp(atRealTime(`http://127.0.0.1:${port}`));
    const startedAt = performance.now();
    const reply = await browser(otherApp).call('POST', '/sign-in/oidc-options');
    expect(reply.status).toBe(503);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    await otherApp.close();
    unresponsiveServer.close();
  }, 20_000);

  it('is reported with 501 if it is not configured', async () => {
    const otherApp = await startApp();
    const { call } = browser(otherApp);
    const body = { state: 'x', callbackUrl: 'x' };
    const replies = [
      await call('POST', '/sign-in/oidc-options'),
      await call('POST', '/sign-in/oidc', { body }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([501, 501]);
    await otherApp.close();
  });
});
