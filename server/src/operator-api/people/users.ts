// Users and their sessions, for administrators.
import { Type } from '@sinclair/typebox';
import {
  createOperatorUser,
  listOperatorUsers,
  recoverOperatorUser,
  sessions,
  updateOperatorUser,
} from '../../features/staff/users/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  Email,
  named,
  nullable,
  PageQuery,
  page,
  text,
  withDescription,
} from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, Reason, RemovalQuery } from '../schemas.ts';
import {
  InvitedUser,
  OperatorSession,
  OperatorUser,
  Platforms,
  Roles,
  UserName,
} from './schemas.ts';

const base = { auth: 'operator', tag: 'Users', wholeInstallation: true } as const;
const params = Type.Object({ operatorUserId: text('ID of the user.') });

const create = operation({
  ...base,
  operationId: 'createOperatorUser',
  method: 'POST',
  path: '/operator-users',
  summary: 'Create a user',
  description:
    'Creates a user and a single-use link. The person can register a sign-in method with the link ' +
    'within 24 hours. The user cannot have permissions or platforms that the creator does not have.',
  operatorPermission: 'staff.manage',
  commands: ['operator-user create'],
  body: Type.Object({
    name: UserName,
    email: Email,
    roles: Roles,
    platformIds: Type.Optional(
      withDescription(Platforms, 'Platforms that the user may access. Absent for all platforms.'),
    ),
    ...OptionalReason,
  }),
  replies: { 201: InvitedUser },
  errors: ['PLATFORM_NOT_FOUND', 'CONFLICT'],
  omitOnReplay: ['link'],
  sealed: true,
});

const list = operation({
  ...base,
  operationId: 'listOperatorUsers',
  method: 'GET',
  path: '/operator-users',
  summary: 'List users',
  description: 'Returns all users, newest first.',
  operatorPermission: 'staff.read',
  commands: ['operator-user list'],
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'OperatorUserPage',
      page(OperatorUser, { description: 'A page of users, newest first.' }),
    ),
  },
  errors: [],
});

const update = operation({
  ...base,
  operationId: 'updateOperatorUser',
  method: 'PATCH',
  path: '/operator-users/{operatorUserId}',
  summary: 'Change a user',
  description:
    'Changes the name, the roles or the platforms of a user, or disables or enables the user. Changes ' +
    'apply from the next request of the user. Users cannot change themselves. The roles of a user ' +
    'who signs in at the identity provider follow from the groups and cannot be changed.',
  operatorPermission: 'staff.manage',
  commands: ['operator-user update'],
  params,
  body: Type.Object({
    name: Type.Optional(UserName),
    roles: Type.Optional(Roles),
    platformIds: Type.Optional(
      withDescription(nullable(Platforms), 'Platforms that the user may access, or null for all.'),
    ),
    isDisabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether the user is disabled. A disabled user cannot sign in, and all sessions of the user end.',
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: OperatorUser },
  errors: ['PLATFORM_NOT_FOUND'],
  notFound: 'NOT_FOUND',
});

const recover = operation({
  ...base,
  operationId: 'recoverOperatorUser',
  method: 'POST',
  path: '/operator-users/{operatorUserId}/recover',
  summary: 'Recover a user',
  description:
    'Creates a link for a user who has lost every sign-in method. The method that is registered with ' +
    'the link replaces all others and ends every session. The recovery always requires an approval by a ' +
    'second person, by default within 24 hours. The reply to the approval contains the link. ' +
    'Users who sign in at the identity provider are recovered there.',
  operatorPermission: 'staff.manage',
  commands: ['operator-user recover'],
  needsApproval: true,
  params,
  body: Type.Object({ reason: Reason }),
  replies: { 200: InvitedUser },
  errors: [],
  notFound: 'NOT_FOUND',
  omitOnReplay: ['link'],
  sealed: true,
});

const listAll = operation({
  ...base,
  operationId: 'listOperatorSessions',
  method: 'GET',
  path: '/operator-sessions',
  summary: 'List sessions',
  description:
    'Returns the sessions of all users or of one user, newest first. A session is listed until 30 ' +
    'days after its expiry.',
  operatorPermission: 'staff.read',
  commands: [],
  query: Type.Object({
    operatorUserId: Type.Optional(text('Return only sessions of this user.')),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorSessionPage',
      page(OperatorSession, { description: 'A page of sessions of users, newest first.' }),
    ),
  },
  errors: [],
});

const end = operation({
  ...base,
  operationId: 'endOperatorSession',
  method: 'DELETE',
  path: '/operator-sessions/{operatorSessionId}',
  summary: 'End a session',
  description: 'Ends a session immediately. Has no effect on a session that is not active.',
  operatorPermission: 'staff.manage',
  commands: [],
  params: Type.Object({ operatorSessionId: text('ID of the session.') }),
  query: RemovalQuery,
  replies: { 200: OperatorSession },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const userOperations = [
  operatorHandle(create, async ({ installation, operator }, { body: { reason: _, ...user } }) => ({
    status: 201,
    body: await createOperatorUser(installation.runtime, operator, user),
  })),
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await listOperatorUsers(installation.runtime, query),
  })),
  operatorHandle(
    update,
    async ({ installation, operator }, { params: { operatorUserId }, body }) => {
      const { reason: _, ...change } = body;
      return {
        status: 200,
        body: await updateOperatorUser(installation.runtime, operator, operatorUserId, change),
      };
    },
  ),
  operatorHandle(recover, async ({ installation, operator }, { params: { operatorUserId } }) => ({
    status: 200,
    body: await recoverOperatorUser(installation.runtime, operator, operatorUserId),
  })),
  operatorHandle(listAll, async ({ installation }, { query }) => ({
    status: 200,
    body: await sessions.list(installation.runtime, query),
  })),
  operatorHandle(end, async ({ installation }, { params: { operatorSessionId } }) => ({
    status: 200,
    body: await sessions.end(installation.runtime, operatorSessionId),
  })),
];
