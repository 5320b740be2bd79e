// Contracts of delegated keys: keys in custody that sign the payments of one card from an embedded
// wallet.

import { type Static, Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf, text, time } from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';

const TAG = 'Embedded Wallet Auth';
const params = Type.Object({ id: text('ID of the delegated key.') });

const DelegatedKeyStatus = named(
  'DelegatedKeyStatus',
  oneOf(['PENDING', 'ACTIVE', 'REVOKED'], {
    description: 'PENDING until the wallet has authorized the key. A REVOKED key no longer signs.',
  }),
);

const DelegatedKey = named(
  'DelegatedKey',
  Type.Object(
    {
      id: text('ID of the delegated key.'),
      cardId: text('ID of the card whose payments the key signs.'),
      fundingSourceId: text('ID of the funding source that links the card to the wallet.'),
      accountId: text('ID of the embedded wallet that is debited.'),
      publicKey: text('P-256 public key, compressed, lower-case hex.'),
      nickname: text('Display name.'),
      status: DelegatedKeyStatus,
      createdAt: time('Time at which the key was created.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A key in custody that signs the payments of one card for an embedded wallet.' },
  ),
);
export type DelegatedKeyView = Static<typeof DelegatedKey>;

const DelegatedKeySignedRequestChallenge = named(
  'DelegatedKeySignedRequestChallenge',
  Type.Object(
    { ...SignedRequestChallenge.properties },
    {
      description:
        'Payload that a session of the wallet must sign next. Two signatures are required.',
    },
  ),
);

const isBlank = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.trim() === '';

export const createDelegatedKey = operation({
  operationId: 'createDelegatedKey',
  method: 'POST',
  path: '/auth/delegated-keys',
  tag: TAG,
  summary: 'Create a delegated key for a card',
  description:
    'Creates a key that signs the payments of a card. Three requests with the same body are ' +
    'required. The first returns a payload. The second contains the signature of a wallet ' +
    'session over the payload of the first reply and creates the key. The third contains the ' +
    'signature over the payload of the second reply and authorizes the key. A funding source ' +
    'has at most one ACTIVE key, and at most 100 keys in all statuses. Another key can be ' +
    'created while a key is PENDING.',
  permission: 'MANAGE',
  signedRetry: true,
  callsExternal: true,
  body: named(
    'DelegatedKeyCreateRequest',
    Type.Object(
      {
        cardId: text('ID of the card.'),
        internalAccountId: text('ID of an embedded wallet that funds the card.'),
        nickname: text('Display name of the key.', { minLength: 1, maxLength: 256 }),
      },
      {
        description: 'Card and embedded wallet to link.',
        examples: [
          {
            cardId: 'Card:019b8e2a-0c00-7000-8000-00000000c001',
            internalAccountId: 'InternalAccount:019b8e2a-0c00-7000-8000-00000000b004',
            nickname: 'Groceries',
          },
        ],
      },
    ),
  ),
  bodyRules: (body) =>
    isBlank((body as { nickname?: unknown } | null)?.nickname)
      ? [{ field: 'nickname', message: 'must not be blank', constraint: { minLength: 1 } }]
      : [],
  replies: { 201: DelegatedKey, 202: DelegatedKeySignedRequestChallenge },
  errors: ['ACCOUNT_NOT_FOUND', 'CARD_NOT_MUTABLE', 'CONFLICT'],
  notFound: 'NOT_FOUND',
});

export const listDelegatedKeys = operation({
  operationId: 'listDelegatedKeys',
  method: 'GET',
  path: '/auth/delegated-keys',
  tag: TAG,
  summary: 'List delegated keys',
  description:
    'Lists the keys of a wallet, of a funding source, or of both, in every status, oldest first. ' +
    'At least one of the two filters is required. An unknown ID returns an empty list.',
  permission: 'VIEW',
  query: Type.Object({
    accountId: Type.Optional(text('Filter by the ID of the embedded wallet.')),
    fundingSourceId: Type.Optional(text('Filter by the ID of the funding source.')),
  }),
  replies: {
    200: named(
      'DelegatedKeyListResponse',
      Type.Object(
        {
          data: Type.Array(DelegatedKey, {
            description: 'Delegated keys that match the filters, oldest first.',
          }),
        },
        { description: 'A list of delegated keys.' },
      ),
    ),
  },
  errors: [],
});

export const getDelegatedKeyById = operation({
  operationId: 'getDelegatedKeyById',
  method: 'GET',
  path: '/auth/delegated-keys/{id}',
  tag: TAG,
  summary: 'Get a delegated key',
  description: 'Returns a delegated key with its status.',
  permission: 'VIEW',
  params,
  replies: { 200: DelegatedKey },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const revokeDelegatedKey = operation({
  operationId: 'revokeDelegatedKey',
  method: 'DELETE',
  path: '/auth/delegated-keys/{id}',
  tag: TAG,
  summary: 'Revoke a delegated key',
  description:
    'Revokes an ACTIVE delegated key, so that its card can no longer pay from the wallet. No ' +
    'signature is required.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'NOT_FOUND',
});
