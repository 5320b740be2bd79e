// The session of the caller, and the caller's own sign-in methods.
import { Type } from '@sinclair/typebox';
import {
  endedCookie,
  ownMethods,
  presentUser,
  sessions,
  siteOf,
} from '../../features/staff/users/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, text, time } from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import {
  Code,
  CsrfToken,
  OperatorSession,
  OperatorUser,
  PasskeyName,
  PasskeyOptions,
  Password,
  PermissionName,
  RegisteredCredential,
  State,
  TotpEnrollment,
} from './schemas.ts';

const base = {
  auth: 'operator',
  operatorPermission: 'profile.manage',
  commands: [],
  tag: 'Session',
} as const;

const RECENT = ' Requires a sign-in within the last ten minutes.';

const get = operation({
  ...base,
  operationId: 'getOperatorSession',
  method: 'GET',
  path: '/session',
  summary: 'Get the current session',
  description:
    'Returns the current session and its user, with the permissions of the user. Operator tokens have ' +
    'no session and receive `FORBIDDEN`.',
  replies: {
    200: Type.Object({
      session: OperatorSession,
      user: OperatorUser,
      permissions: Type.Array(PermissionName, { description: 'Permissions of the user.' }),
      csrfToken: CsrfToken,
    }),
  },
  errors: [],
});

const signOut = operation({
  ...base,
  operationId: 'endOwnSession',
  method: 'DELETE',
  path: '/session',
  summary: 'Sign out',
  description: 'Ends the current session.',
  replies: { 200: OperatorSession },
  errors: [],
});

const endOthers = operation({
  ...base,
  operationId: 'endOtherOwnSessions',
  method: 'POST',
  idempotency: 'none',
  path: '/session/end-others',
  summary: 'End your other sessions',
  description: 'Ends all sessions of the user except the current one.',
  replies: { 200: OperatorSession },
  errors: [],
});

const Passkey = named(
  'OperatorPasskey',
  Type.Object(
    {
      id: text('ID of the passkey.'),
      name: text('Name of the passkey.'),
      usedAt: Type.Optional(
        time('Time of the last sign-in with the passkey. Absent before the first sign-in.'),
      ),
      createdAt: time('Time at which the passkey was registered.'),
    },
    { description: 'A passkey of a user.' },
  ),
);

const listPasskeys = operation({
  ...base,
  operationId: 'listOwnPasskeys',
  method: 'GET',
  path: '/session/passkeys',
  summary: 'List your passkeys',
  description: 'Returns the passkeys of the user, oldest first.',
  replies: {
    200: Type.Object({
      data: Type.Array(Passkey, { description: 'Passkeys of the user, oldest first.' }),
    }),
  },
  errors: [],
});

const passkeyOptions = operation({
  ...base,
  operationId: 'getOwnPasskeyOptions',
  method: 'POST',
  idempotency: 'none',
  path: '/session/passkey-options',
  summary: 'Begin the registration of another passkey',
  description: `Returns the options with which the browser creates a passkey.${RECENT}`,
  replies: { 200: PasskeyOptions },
  errors: [],
});

const addPasskey = operation({
  ...base,
  operationId: 'addOwnPasskey',
  method: 'POST',
  idempotency: 'none',
  path: '/session/passkeys',
  summary: 'Register another passkey',
  description: `Verifies and stores a new passkey of the user. A user can have at most 20.${RECENT}`,
  body: Type.Object({ name: PasskeyName, state: State, credential: RegisteredCredential }),
  replies: { 201: Passkey },
  errors: ['CONFLICT'],
});

const removePasskey = operation({
  ...base,
  operationId: 'removeOwnPasskey',
  method: 'DELETE',
  path: '/session/passkeys/{operatorPasskeyId}',
  summary: 'Remove a passkey',
  description:
    'Removes a passkey of the user and ends all other sessions. The only sign-in method cannot be ' +
    `removed.${RECENT}`,
  params: Type.Object({ operatorPasskeyId: text('ID of the passkey.') }),
  replies: { 200: Type.Object({ id: text('ID of the removed passkey.') }) },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const totp = operation({
  ...base,
  operationId: 'getOwnTotp',
  method: 'POST',
  idempotency: 'none',
  path: '/session/totp',
  summary: 'Begin a change of your password',
  description:
    'Returns a secret for an authenticator app. A password can be used only together with a code of ' +
    `the app.${RECENT}`,
  replies: { 200: TotpEnrollment },
  errors: [],
});

const setPassword = operation({
  ...base,
  operationId: 'setOwnPassword',
  method: 'PUT',
  path: '/session/password',
  summary: 'Set your password',
  description:
    'Sets or replaces the password and the authenticator app of the user, and ends all other ' +
    `sessions.${RECENT}`,
  body: Type.Object({ state: State, password: Password, code: Code }),
  replies: { 200: OperatorUser },
  errors: ['CONFLICT'],
});

const siteOfCall = ({ operatorUrl, request: { host } }: OperatorCall) => siteOf(operatorUrl, host);

export const sessionOperations = [
  operatorHandle(get, async ({ installation, operator, operatorUrl, request }) => {
    const { session, user } = await sessions.current(installation.runtime, operator);
    const { permissions } = operator;
    const csrfToken = sessions.csrfTokenIn(request.cookie, operatorUrl);
    const presentedUser = presentUser(installation.runtime.vault, user);
    return {
      status: 200,
      body: { session, user: presentedUser, permissions: [...permissions], csrfToken },
    };
  }),
  operatorHandle(signOut, async (call) => {
    const { runtime } = call.installation;
    const { row } = await sessions.current(runtime, call.operator);
    const headers = { 'set-cookie': endedCookie(siteOfCall(call)) };
    return { status: 200, body: await sessions.end(runtime, row.id), headers };
  }),
  operatorHandle(endOthers, async ({ installation: { runtime }, operator }) => {
    const { session } = await sessions.current(runtime, operator);
    await sessions.endOthers(runtime, operator);
    return { status: 200, body: session };
  }),
  operatorHandle(listPasskeys, async ({ installation, operator }) => ({
    status: 200,
    body: { data: await ownMethods.passkeys(installation.runtime, operator) },
  })),
  operatorHandle(passkeyOptions, async (call) => {
    const { installation, operator } = call;
    const site = siteOfCall(call);
    return {
      status: 200,
      body: await ownMethods.passkeyOptions(installation.runtime, operator, site),
    };
  }),
  operatorHandle(addPasskey, async (call, { body }) => ({
    status: 201,
    body: await ownMethods.addPasskey(
      call.installation.runtime,
      call.operator,
      siteOfCall(call),
      body,
    ),
  })),
  operatorHandle(removePasskey, async ({ installation, operator }, { params }) => {
    const id = params.operatorPasskeyId;
    await ownMethods.removePasskey(installation.runtime, operator, id);
    return { status: 200, body: { id } };
  }),
  operatorHandle(totp, async ({ installation, operator }) => ({
    status: 200,
    body: await ownMethods.totp(installation.runtime, operator),
  })),
  operatorHandle(setPassword, async ({ installation: { runtime }, operator }, { body }) => {
    await ownMethods.setPassword(runtime, operator, body);
    const { user } = await sessions.current(runtime, operator);
    return { status: 200, body: presentUser(runtime.vault, user) };
  }),
];
