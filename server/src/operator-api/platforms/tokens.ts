// API tokens of any platform. An operator may revoke every token, including the last one.
import { Type } from '@sinclair/typebox';
import {
  createPlatformToken,
  pageOfPlatformTokens,
  revokeToken,
} from '../../features/tenancy/tokens/index.ts';
import { operation, PERMISSIONS } from '../../kernel/contract/operation.ts';
import { named, oneOf, PageQuery, page, text, time } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason, PlatformFilter, RemovalQuery } from '../schemas.ts';
import { params } from './platforms.ts';

const TAG = 'API Tokens';

const Permission = named(
  'Permission',
  oneOf(PERMISSIONS, {
    description:
      'VIEW: read all resources. TRANSACT: create payments and post funds. MANAGE: change the ' +
      'configuration, customers and tokens. No permission includes another.',
  }),
);
const name = text('Display name.', { minLength: 1, maxLength: 255 });

const TOKEN = {
  tokenId: text('ID of the token.'),
  platformId: text('ID of the platform.'),
  name,
  permissions: Type.Array(Permission, { description: 'Permissions of the token.' }),
  clientId: text('Client ID: the user name of HTTP Basic authentication.'),
  createdAt: time('Time at which the token was created.'),
};
const Token = named(
  'PlatformToken',
  Type.Object(TOKEN, { description: 'A credential of a platform, without its secret.' }),
);

const createToken = operation({
  operationId: 'createPlatformToken',
  method: 'POST',
  path: '/platforms/{platformId}/tokens',
  tag: TAG,
  summary: 'Create an API token of a platform',
  description:
    'Creates a token. Only this reply contains the secret. Returns CONFLICT if the platform ' +
    'has 100 tokens.',
  auth: 'operator',
  operatorPermission: 'tokens.manage',
  commands: ['token create'],
  params,
  body: Type.Object({
    name,
    permissions: Type.Array(Permission, {
      minItems: 1,
      maxItems: 20,
      description: 'Permissions of the token.',
    }),
    ...OptionalReason,
  }),
  replies: {
    201: Type.Object({
      ...TOKEN,
      clientSecret: Type.Optional(
        text('Client secret: the password of HTTP Basic authentication. Absent in a replay.'),
      ),
    }),
  },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
  omitOnReplay: ['clientSecret'],
});

const listTokens = operation({
  operationId: 'listPlatformTokens',
  method: 'GET',
  path: '/tokens',
  tag: TAG,
  summary: 'List API tokens of platforms',
  description: 'Returns the tokens of one platform or of all, oldest first, without secrets.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  oldestFirst: true,
  commands: ['token list'],
  query: Type.Object({ ...PlatformFilter, ...PageQuery }),
  replies: {
    200: named(
      'PlatformTokenPage',
      page(Token, {
        description: 'A page of API tokens of platforms without their secrets, oldest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const revoke = operation({
  operationId: 'revokePlatformToken',
  method: 'DELETE',
  path: '/tokens/{tokenId}',
  tag: TAG,
  summary: 'Revoke an API token of a platform',
  description: 'Revokes a token. Servers accept it for at most two more seconds.',
  auth: 'operator',
  operatorPermission: 'tokens.manage',
  commands: ['token revoke'],
  params: Type.Object({ tokenId: text('ID of the token.') }),
  query: RemovalQuery,
  replies: { 200: Token },
  errors: ['NOT_FOUND'],
  notFound: 'TOKEN_NOT_FOUND',
});

export const tokenOperations = [
  operatorHandle(createToken, async ({ installation }, { params: { platformId }, body }) => {
    const { name: tokenName, permissions } = body;
    const token = { platformId, name: tokenName, permissions };
    return { status: 201, body: await createPlatformToken(installation.runtime, token) };
  }),
  operatorHandle(listTokens, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfPlatformTokens(installation.runtime, query),
  })),
  operatorHandle(revoke, async ({ installation }, { params: { tokenId } }) => ({
    status: 200,
    body: await revokeToken(installation.runtime, tokenId),
  })),
];
