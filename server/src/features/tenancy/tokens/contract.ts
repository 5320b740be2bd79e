// API tokens as the API shows and takes them.
import { Type } from '@sinclair/typebox';
import { operation, PERMISSIONS } from '../../../kernel/contract/operation.ts';
import { described, named, oneOf, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import { MAX_TOKENS } from './store.ts';

const TAG = 'API Tokens';

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });
const time = (description: string) => described(Timestamp, description);

const PermissionName = named(
  'Permission',
  oneOf(PERMISSIONS, {
    description:
      'VIEW reads everything, TRANSACT moves money, MANAGE changes configuration, customers and ' +
      'tokens. None includes another.',
  }),
);

const ApiToken = named(
  'ApiToken',
  Type.Object(
    {
      id: text('Id of the token.'),
      name: text('What the platform calls it.'),
      permissions: Type.Array(PermissionName, { description: 'What it may do.' }),
      clientId: text('User name of HTTP Basic.'),
      clientSecret: Type.Optional(
        text('Password of HTTP Basic. Shown once, when the token is created.'),
      ),
      createdAt: time('When it was created.'),
      updatedAt: time('When it was last changed.'),
    },
    { description: 'A credential of a platform.' },
  ),
);

const ApiTokenCreateRequest = named(
  'ApiTokenCreateRequest',
  Type.Object(
    {
      name: text('What to call it; names may repeat.', { minLength: 1, maxLength: 255 }),
      permissions: Type.Array(PermissionName, {
        minItems: 1,
        maxItems: 20,
        description: 'What it may do; nothing that the calling token may not do itself.',
      }),
    },
    { description: 'A token to create.' },
  ),
);

const params = Type.Object({ tokenId: text('Id of the token.') });

export const createToken = operation({
  operationId: 'createToken',
  method: 'POST',
  path: '/tokens',
  tag: TAG,
  summary: 'Create a token',
  description:
    'The reply is the only place where the secret is ever shown. A platform has at most ' +
    `${MAX_TOKENS} tokens; another one is rejected with 400.`,
  permission: 'MANAGE',
  body: ApiTokenCreateRequest,
  replies: { 201: ApiToken },
  errors: [],
  omitOnReplay: ['clientSecret'],
});

export const listTokens = operation({
  operationId: 'listTokens',
  method: 'GET',
  path: '/tokens',
  tag: TAG,
  summary: 'List tokens',
  description: 'Newest first. Secrets are not shown.',
  permission: 'VIEW',
  query: Type.Object({
    name: Type.Optional(text('Only tokens of exactly this name.')),
    createdAfter: Type.Optional(time('Created at this moment or later.')),
    createdBefore: Type.Optional(time('Created at this moment or earlier.')),
    updatedAfter: Type.Optional(time('Changed at this moment or later.')),
    updatedBefore: Type.Optional(time('Changed at this moment or earlier.')),
    ...PageQuery,
  }),
  replies: {
    200: named('TokenListResponse', { ...page(ApiToken), description: 'A page of tokens.' }),
  },
  errors: [],
});

export const getTokenById = operation({
  operationId: 'getTokenById',
  method: 'GET',
  path: '/tokens/{tokenId}',
  tag: TAG,
  summary: 'Show a token',
  permission: 'VIEW',
  params,
  replies: { 200: ApiToken },
  errors: [],
  notFound: 'TOKEN_NOT_FOUND',
});

export const deleteTokenById = operation({
  operationId: 'deleteTokenById',
  method: 'DELETE',
  path: '/tokens/{tokenId}',
  tag: TAG,
  summary: 'Delete a token',
  description: 'Requests with it are refused from then on. A token cannot delete itself.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'TOKEN_NOT_FOUND',
});
