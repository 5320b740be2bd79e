// Sign-in of users with a passkey, with a password, or at the identity provider.
import { Type } from '@sinclair/typebox';
import {
  type SignedIn as CompletedSignIn,
  MAX_PASSWORD,
  signIn,
} from '../../features/staff/users/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Email, text } from '../../kernel/schema.ts';
import { AssertedCredential, Code, PasskeyOptions, SignedIn, State } from './schemas.ts';
import { signInHandle } from './sign-in-handle.ts';

const base = { auth: 'signIn', method: 'POST', tag: 'Sign-In' } as const;

const SITE =
  ' Requires https or `http://localhost`. At any other address the request is rejected with ' +
  '`FORBIDDEN`, and the error states the address to use.';

const passkeyOptions = operation({
  ...base,
  operationId: 'getOperatorPasskeyOptions',
  path: '/sign-in/passkey-options',
  summary: 'Begin a sign-in with a passkey',
  description: `Returns a challenge that the passkey of any user can sign.${SITE}`,
  replies: { 200: PasskeyOptions },
  errors: ['FORBIDDEN'],
});

const withPasskey = operation({
  ...base,
  operationId: 'signInWithPasskey',
  path: '/sign-in/passkey',
  summary: 'Sign in with a passkey',
  description: `Verifies the response of the passkey and opens a session.${SITE}`,
  body: Type.Object({ state: State, credential: AssertedCredential }),
  replies: { 201: SignedIn },
  errors: ['UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT'],
});

const withPassword = operation({
  ...base,
  operationId: 'signInWithPassword',
  path: '/sign-in/password',
  summary: 'Sign in with a password',
  description:
    'Verifies the password and a code of the authenticator app, and opens a session. Each e-mail ' +
    'address has five attempts in 15 minutes and 20 in a day, even if no user has this address. ' +
    `Each IP address has 30 attempts in 15 minutes. The limits do not apply to passkeys.${SITE}`,
  body: Type.Object({
    email: Email,
    password: text('Password of the user.', { minLength: 1, maxLength: MAX_PASSWORD }),
    code: Code,
  }),
  replies: { 201: SignedIn },
  errors: ['UNAUTHORIZED', 'FORBIDDEN'],
});

const oidcOptions = operation({
  ...base,
  operationId: 'getOperatorOidcOptions',
  path: '/sign-in/oidc-options',
  summary: 'Begin a sign-in at the identity provider',
  description:
    'Returns the address of the identity provider that the browser opens. The provider then returns ' +
    'the browser to `/operator/sign-in`. The request is rejected with `NOT_IMPLEMENTED` if no ' +
    'provider is configured, and with `SERVICE_UNAVAILABLE` if the provider does not respond.' +
    SITE,
  replies: {
    200: Type.Object({
      state: State,
      authorizationUrl: text('Address that the browser opens.'),
    }),
  },
  errors: ['FORBIDDEN', 'NOT_IMPLEMENTED'],
});

const withOidc = operation({
  ...base,
  operationId: 'signInWithOidc',
  path: '/sign-in/oidc',
  summary: 'Sign in at the identity provider',
  description:
    'Verifies the response of the identity provider and opens a session. The first sign-in creates ' +
    'the user. At each sign-in, the groups at the provider determine the roles. The request is ' +
    'rejected with `FORBIDDEN` if the user is disabled. The request is also rejected with ' +
    '`FORBIDDEN` if no group has a role, and all sessions of the user end. If another user has the e-mail ' +
    `address, the request is rejected with \`CONFLICT\`, because users are not linked.${SITE}`,
  body: Type.Object({
    state: State,
    callbackUrl: text('Complete URL to which the provider returned the browser.', {
      minLength: 1,
      maxLength: 8_192,
    }),
  }),
  replies: { 201: SignedIn },
  errors: ['UNAUTHORIZED', 'FORBIDDEN', 'CONFLICT', 'NOT_IMPLEMENTED'],
});

/** The reply to a completed sign-in. */
export const signedInReply = ({ cookies, ...body }: CompletedSignIn) => ({
  status: 201 as const,
  body,
  headers: { 'set-cookie': [...cookies] },
});

export const signInOperations = [
  signInHandle(passkeyOptions, async ({ runtime, browser }) => ({
    status: 200,
    body: signIn.passkeyOptions(runtime, browser),
  })),
  signInHandle(withPasskey, async ({ runtime, browser }, { body }) =>
    signedInReply(await signIn.withPasskey(runtime, browser, withPasskey.operationId, body)),
  ),
  signInHandle(withPassword, async ({ runtime, browser }, { body }) =>
    signedInReply(await signIn.withPassword(runtime, browser, withPassword.operationId, body)),
  ),
  signInHandle(oidcOptions, async ({ runtime, browser, identityProvider }) => ({
    status: 200,
    body: await signIn.oidcOptions(runtime, browser, identityProvider),
  })),
  signInHandle(withOidc, async ({ runtime, browser, identityProvider }, { body }) => {
    const attempt = { browser, operationId: withOidc.operationId };
    return signedInReply(await signIn.withOidc(runtime, attempt, identityProvider, body));
  }),
];
