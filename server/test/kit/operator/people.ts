// People who operate the installation: browsers with cookies, their passkeys and their sign-in.
import { parseSetCookie } from 'cookie';
import { enrollment } from '../../../src/features/staff/users/index.ts';
import { OPERATOR_BASE_PATH } from '../../../src/http/route.ts';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp } from '../app/harness.ts';
import { assertionJson, codeAt, registrationJson } from '../sca/factors.ts';
import { type Authenticator, authenticator, type Ceremony } from '../wallets/authenticator.ts';

const HOST = 'localhost:8080';
const ORIGIN = `http://${HOST}`;

export interface BrowserOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Replaces the token of the session. Null sends no token. */
  csrfToken?: string | null;
}

/** A browser that keeps cookies and the CSRF token of its session. */
export function browser(app: TestApp, host = HOST) {
  const cookies = new Map<string, string>();
  let csrf: string | undefined;

  async function call(
    method: string,
    path: string,
    { body, headers = {}, csrfToken = csrf ?? null }: BrowserOptions = {},
  ): Promise<ApiResponse> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await app.server.inject({
      method: method as 'GET',
      url: `${OPERATOR_BASE_PATH}${path}`,
      headers: {
        host,
        ...(cookie ? { cookie } : {}),
        ...(csrfToken === null ? {} : { 'x-csrf-token': csrfToken }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    for (const text of [reply.headers['set-cookie'] ?? []].flat()) {
      const { name, value = '', maxAge } = parseSetCookie(text);
      if (maxAge === 0) cookies.delete(name);
      else cookies.set(name, value);
    }
    const content = reply.body === '' ? undefined : JSON.parse(reply.body);
    if (reply.statusCode < 300 && content?.csrfToken) csrf = content.csrfToken;
    return { status: reply.statusCode, body: content, headers: reply.headers };
  }

  return { call, cookies, csrfToken: () => csrf };
}

export type Browser = ReturnType<typeof browser>;

export const newDevice = () => authenticator({ rpId: 'localhost', origin: ORIGIN });

const DETAILS = { name: 'Ada Admin', email: 'ada@example.com' };

/** Registers a passkey with a link. The browser is then signed in. */
export async function enrollWithPasskey(
  { call }: Browser,
  secret: string,
  device: Authenticator = newDevice(),
  details: object = {},
) {
  const options = ok(
    await call('POST', '/enrollment/passkey-options', { body: { secret, ...details } }),
    200,
  );
  const credential = registrationJson(device, options.publicKey.challenge);
  const input = { secret, state: options.state, passkeyName: 'Laptop', credential, ...details };
  return { device, input, reply: await call('POST', '/enrollment/passkey', { body: input }) };
}

/** Begins a sign-in with a passkey. `complete` sends the response of the device. */
export async function beginSignIn({ call }: Browser) {
  const { state, publicKey } = ok(await call('POST', '/sign-in/passkey-options'), 200);
  return {
    state,
    publicKey,
    complete: (device: Authenticator, ceremony: Ceremony = {}) =>
      call('POST', '/sign-in/passkey', {
        body: { state, credential: assertionJson(device, publicKey.challenge, ceremony) },
      }),
  };
}

export const signIn = async (person: Browser, device: Authenticator, ceremony: Ceremony = {}) =>
  (await beginSignIn(person)).complete(device, ceremony);

export const PASSWORD = 'orbit-velvet-thirteen-lamps';

/** Sets a password with a link. Returns the secret of the authenticator app and the reply. */
export async function enrollWithPassword(
  app: TestApp,
  { call }: Browser,
  secret: string,
  overrides: object = {},
) {
  const totp = ok(await call('POST', '/enrollment/totp', { body: { secret } }), 200);
  const code = codeAt(totp.secret, app.effects.now());
  const body = { secret, state: totp.state, password: PASSWORD, code, ...overrides };
  return {
    totp: totp.secret as string,
    reply: await call('POST', '/enrollment/password', { body }),
  };
}

/** The first administrator, signed in. */
export async function firstAdministrator(app: TestApp) {
  const link = await enrollment.firstAdministratorLink(app.runtime);
  if (!link) throw new Error('The first administrator has already enrolled. Use a new server.');
  const person = browser(app);
  const { device, reply } = await enrollWithPasskey(person, link.secret, newDevice(), DETAILS);
  return { person, device, user: ok(reply, 201).user };
}
