// Contracts and schemas of API tokens.
import { Type } from '@sinclair/typebox';
import { operation, PERMISSIONS } from '../../../kernel/contract/operation.ts';
import { named, oneOf, PageQuery, page, text, time } from '../../../kernel/schema.ts';
import { MAX_TOKENS } from './store.ts';

const TAG = 'API Tokens';

const PermissionName = named(
  'Permission',
  oneOf(PERMISSIONS, {
    description:
      'VIEW: read all resources. TRANSACT: create payments and post funds. MANAGE: ' +
      'change the configuration, customers and tokens. No permission includes another.',
  }),
);

const ApiToken = named(
  'ApiToken',
  Type.Object(
    {
      id: text('ID of the token.'),
      name: text('Display name. Not necessarily unique.'),
      permissions: Type.Array(PermissionName, { description: 'Permissions of the token.' }),
      clientId: text('Client ID: the user name of HTTP Basic authentication.'),
      clientSecret: Type.Optional(
        text(
          'Client secret: the password of HTTP Basic authentication. Returned only when ' +
            'the token is created. Absent in all other replies.',
        ),
      ),
      createdAt: time('Time at which the token was created.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'An API token: a credential of a platform, with permissions.' },
  ),
);

const ApiTokenCreateRequest = named(
  'ApiTokenCreateRequest',
  Type.Object(
    {
      name: text('Display name, 1 to 255 characters. Not necessarily unique.', {
        minLength: 1,
        maxLength: 255,
      }),
      permissions: Type.Array(PermissionName, {
        minItems: 1,
        maxItems: 20,
        description:
          'Permissions of the new token. Only permissions that the calling token has can ' +
          'be granted.',
      }),
    },
    { description: 'The token to create.' },
  ),
);

const params = Type.Object({ tokenId: text('ID of the token.') });

export const createToken = operation({
  operationId: 'createToken',
  method: 'POST',
  path: '/tokens',
  tag: TAG,
  summary: 'Create an API token',
  description:
    'Creates an API token with the permissions of the request. Only this reply contains ' +
    '`clientSecret`. Store it in a secret manager. The token can be used immediately, with ' +
    `HTTP Basic authentication. A platform has at most ${MAX_TOKENS} tokens. Delete one with ` +
    '`deleteTokenById` before creating another.',
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
  summary: 'List API tokens',
  description:
    'Returns the API tokens of the platform that match every filter, newest first. Secrets ' +
    'are never included.',
  permission: 'VIEW',
  query: Type.Object({
    name: Type.Optional(text('Return only tokens with exactly this name.')),
    createdAfter: Type.Optional(time('Return only tokens created at or after this time.')),
    createdBefore: Type.Optional(time('Return only tokens created at or before this time.')),
    updatedAfter: Type.Optional(time('Return only tokens changed at or after this time.')),
    updatedBefore: Type.Optional(time('Return only tokens changed at or before this time.')),
    ...PageQuery,
  }),
  replies: {
    200: named('TokenListResponse', { ...page(ApiToken), description: 'A page of API tokens.' }),
  },
  errors: [],
});

export const getTokenById = operation({
  operationId: 'getTokenById',
  method: 'GET',
  path: '/tokens/{tokenId}',
  tag: TAG,
  summary: 'Get an API token',
  description: 'Returns one API token of the platform, without its secret.',
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
  summary: 'Delete an API token',
  description:
    'Revokes an API token permanently. Requests that use the token are rejected after at most ' +
    'two seconds. A token cannot delete itself. Use another token that has the permission.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'TOKEN_NOT_FOUND',
});
