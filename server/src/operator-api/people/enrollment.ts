// Registration of a sign-in method with an enrollment link or a recovery link.
import { Type } from '@sinclair/typebox';
import { enrollment } from '../../features/staff/users/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { oneOf, text, time } from '../../kernel/schema.ts';
import {
  Code,
  Identity,
  PasskeyName,
  PasskeyOptions,
  Password,
  RegisteredCredential,
  SignedIn,
  State,
  TotpEnrollment,
} from './schemas.ts';
import { signedInReply } from './sign-in.ts';
import { signInHandle } from './sign-in-handle.ts';

const base = { auth: 'signIn', method: 'POST', tag: 'Sign-In' } as const;
const errors = ['FORBIDDEN', 'LINK_ENDED'] as const;

const Secret = text('Secret of the link.', { minLength: 1, maxLength: 100 });

const show = operation({
  ...base,
  operationId: 'showEnrollment',
  path: '/enrollment',
  summary: 'Get an enrollment link',
  description: 'Returns the purpose and the user of a link. The link remains valid.',
  body: Type.Object({ secret: Secret }),
  replies: {
    200: Type.Object({
      kind: oneOf(['ENROLLMENT', 'RECOVERY'], {
        description:
          'ENROLLMENT: registers the first sign-in method. RECOVERY: the new sign-in method replaces ' +
          'all others.',
      }),
      name: text('Name of the user.'),
      email: Type.Optional(text('E-mail address of the user. Absent if there is none.')),
      needsIdentity: Type.Boolean({
        description: 'Whether `email` is required. True only for the first administrator.',
      }),
      expiresAt: time('Time at which the link expires.'),
    }),
  },
  errors,
});

const passkeyOptions = operation({
  ...base,
  operationId: 'getEnrollmentPasskeyOptions',
  path: '/enrollment/passkey-options',
  summary: 'Begin the registration of a passkey',
  description: 'Returns the options with which the browser creates a passkey.',
  body: Type.Object({ secret: Secret, ...Identity }),
  replies: { 200: PasskeyOptions },
  errors,
});

const passkey = operation({
  ...base,
  operationId: 'enrollPasskey',
  path: '/enrollment/passkey',
  summary: 'Register a passkey with a link',
  description: 'Verifies the new passkey and opens a session. The link cannot be used again.',
  body: Type.Object({
    ...{ secret: Secret, state: State, passkeyName: PasskeyName },
    ...{ credential: RegisteredCredential, ...Identity },
  }),
  replies: { 201: SignedIn },
  errors: [...errors, 'CONFLICT'],
});

const totp = operation({
  ...base,
  operationId: 'getEnrollmentTotp',
  path: '/enrollment/totp',
  summary: 'Begin the registration of a password',
  description:
    'Returns a secret for an authenticator app. A password can be used only together with a code of ' +
    'the app.',
  body: Type.Object({ secret: Secret, ...Identity }),
  replies: { 200: TotpEnrollment },
  errors,
});

const password = operation({
  ...base,
  operationId: 'enrollPassword',
  path: '/enrollment/password',
  summary: 'Register a password with a link',
  description:
    'Verifies the code of the authenticator app, sets the password and opens a session. The link ' +
    'cannot be used again.',
  body: Type.Object({
    ...{ secret: Secret, state: State, password: Password, code: Code },
    ...Identity,
  }),
  replies: { 201: SignedIn },
  errors: [...errors, 'CONFLICT'],
});

export const enrollmentOperations = [
  signInHandle(show, async ({ runtime, browser }, { body: { secret } }) => ({
    status: 200,
    body: await enrollment.showLink(runtime, { browser, operationId: show.operationId }, secret),
  })),
  signInHandle(passkeyOptions, async ({ runtime, browser }, { body }) => {
    const attempt = { browser, operationId: passkeyOptions.operationId };
    return { status: 200, body: await enrollment.passkeyOptions(runtime, attempt, body) };
  }),
  signInHandle(passkey, async ({ runtime, browser }, { body }) =>
    signedInReply(await enrollment.enrollPasskey(runtime, browser, passkey.operationId, body)),
  ),
  signInHandle(totp, async ({ runtime, browser }, { body }) => {
    const attempt = { browser, operationId: totp.operationId };
    return { status: 200, body: await enrollment.totp(runtime, attempt, body) };
  }),
  signInHandle(password, async ({ runtime, browser }, { body }) =>
    signedInReply(await enrollment.enrollPassword(runtime, browser, password.operationId, body)),
  ),
];
