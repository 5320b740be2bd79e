// Sign-in of users.
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

const base = { auth: 'signIn', method: 'POST', tag: 'Sign-in' } as const;

const SITE =
  ' Only over https, or at `http://localhost`; elsewhere it is `FORBIDDEN` with the address to use.';

const passkeyOptions = operation({
  ...base,
  operationId: 'getOperatorPasskeyOptions',
  path: '/sign-in/passkey-options',
  summary: 'Begin a sign-in with a passkey',
  description: `Returns a challenge for the passkeys of every user.${SITE}`,
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
    'Verifies the password and a code of the authenticator app, and opens a session. An e-mail ' +
    'address has five attempts in 15 minutes and 20 in a day, whether a user has it or not; its ' +
    `passkeys are not affected.${SITE}`,
  body: Type.Object({
    email: Email,
    password: text('Password.', { minLength: 1, maxLength: MAX_PASSWORD }),
    code: Code,
  }),
  replies: { 201: SignedIn },
  errors: ['UNAUTHORIZED', 'FORBIDDEN'],
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
];
