// Operator tokens and roles.
import { Type } from '@sinclair/typebox';
import { ROLE_NAMES, ROLES } from '../../features/staff/roles/index.ts';
import {
  createOperatorToken,
  listOperatorTokens,
  MAX_TOKEN_DAYS,
  revokeOperatorToken,
} from '../../features/staff/tokens/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import {
  OPERATOR_PERMISSION_NAMES,
  OPERATOR_PERMISSIONS,
} from '../../kernel/contract/operator-permissions.ts';
import { named, nullable, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, RemovalQuery } from '../schemas.ts';
import { PermissionName, Role } from './schemas.ts';

const TAG = 'Operators';

const TOKEN = {
  id: text('ID of the operator token.'),
  name: text('Display name.'),
  roles: Type.Array(Role, { description: 'Roles of the token.' }),
  platformIds: nullable(
    Type.Array(Type.String(), {
      description: 'Platforms that the token may access, or null for all.',
    }),
  ),
  status: oneOf(['ACTIVE', 'EXPIRED', 'REVOKED'], {
    description: 'ACTIVE: valid. EXPIRED: `expiresAt` has passed. REVOKED: revoked by an operator.',
  }),
  createdBy: text('ID of the operator who created the token.'),
  expiresAt: time('Time at which the token expires.'),
  createdAt: time('Time at which the token was created.'),
};
const OperatorToken = named(
  'OperatorToken',
  Type.Object(TOKEN, { description: 'A bearer token of the operator API, with roles.' }),
);

const listRoles = operation({
  operationId: 'listOperatorRoles',
  method: 'GET',
  path: '/roles',
  tag: TAG,
  summary: 'List roles',
  description: 'Returns each role with its permissions, and a description of each permission.',
  auth: 'operator',
  operatorPermission: 'staff.read',
  commands: [],
  replies: {
    200: Type.Object({
      roles: Type.Array(
        Type.Object({
          role: Role,
          permissions: Type.Array(PermissionName, { description: 'Permissions of the role.' }),
        }),
        { description: 'All roles, each with its permissions.' },
      ),
      permissions: Type.Array(
        Type.Object({
          permission: PermissionName,
          description: text('Description of the permission.'),
        }),
        { description: 'All permissions, each with its description.' },
      ),
    }),
  },
  errors: [],
});

const createToken = operation({
  operationId: 'createOperatorToken',
  method: 'POST',
  path: '/operator-tokens',
  tag: TAG,
  summary: 'Create an operator token',
  description:
    'Creates a bearer token for a script or another system. Only this reply contains the ' +
    'secret. A repeated request with the same `Idempotency-Key` returns the same token without it. ' +
    'If the first reply was lost, revoke the token and create another. The token cannot have ' +
    'permissions or platforms that the creator does not have.',
  auth: 'operator',
  operatorPermission: 'staff.manage',
  commands: ['operator-token create'],
  body: Type.Object({
    name: text('Display name.', { minLength: 1, maxLength: 255 }),
    roles: Type.Array(Role, { minItems: 1, maxItems: 10, description: 'Roles of the token.' }),
    platformIds: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 100,
        description: 'Platforms that the token may access. Absent for all platforms.',
      }),
    ),
    expiresInDays: Type.Integer({
      minimum: 1,
      maximum: MAX_TOKEN_DAYS,
      description: 'Days until the token expires.',
    }),
    ...OptionalReason,
  }),
  replies: {
    201: Type.Object({
      ...TOKEN,
      secret: Type.Optional(text('The bearer secret. Absent when the reply is replayed.')),
    }),
  },
  errors: ['PLATFORM_NOT_FOUND'],
  omitOnReplay: ['secret'],
});

const listTokens = operation({
  operationId: 'listOperatorTokens',
  method: 'GET',
  path: '/operator-tokens',
  tag: TAG,
  summary: 'List operator tokens',
  description: 'Returns all operator tokens, newest first, without their secrets.',
  auth: 'operator',
  operatorPermission: 'staff.read',
  wholeInstallation: true,
  commands: ['operator-token list'],
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'OperatorTokenPage',
      page(OperatorToken, {
        description: 'A page of operator tokens without their secrets, newest first.',
      }),
    ),
  },
  errors: [],
});

const revokeToken = operation({
  operationId: 'revokeOperatorToken',
  method: 'DELETE',
  path: '/operator-tokens/{operatorTokenId}',
  tag: TAG,
  summary: 'Revoke an operator token',
  description: 'Revokes a token immediately. A token cannot revoke itself.',
  auth: 'operator',
  operatorPermission: 'staff.manage',
  wholeInstallation: true,
  commands: ['operator-token revoke'],
  params: Type.Object({ operatorTokenId: text('ID of the operator token.') }),
  query: RemovalQuery,
  replies: { 200: OperatorToken },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const staffOperations = [
  operatorHandle(listRoles, async () => ({
    status: 200,
    body: {
      roles: ROLE_NAMES.map((role) => ({ role, permissions: [...ROLES[role]] })),
      permissions: OPERATOR_PERMISSION_NAMES.map((permission) => ({
        permission,
        description: OPERATOR_PERMISSIONS[permission],
      })),
    },
  })),
  operatorHandle(createToken, async ({ installation, operator }, { body }) => {
    const { expiresInDays: days, name, roles, platformIds } = body;
    const token = { name, roles, platformIds, days };
    return { status: 201, body: await createOperatorToken(installation.runtime, operator, token) };
  }),
  operatorHandle(listTokens, async ({ installation }, { query }) => ({
    status: 200,
    body: await listOperatorTokens(installation.runtime, query),
  })),
  operatorHandle(revokeToken, async ({ installation, operator }, { params }) => ({
    status: 200,
    body: await revokeOperatorToken(installation.runtime, operator, params.operatorTokenId),
  })),
];
