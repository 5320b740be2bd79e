// Delegated keys as the API shows them, and the operations on them: keys that we keep and that pay with a
// wallet's money for one card.

import { type Static, Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { named, oneOf, Timestamp } from '../../../kernel/schema.ts';
import { SignedRequestChallenge } from '../../customers/registration/index.ts';

const TAG = 'Embedded Wallet Auth';
const text = (description: string, more: object = {}) => Type.String({ description, ...more });
const params = Type.Object({ id: text('Id of the delegated key.') });

const DelegatedKeyStatus = named(
  'DelegatedKeyStatus',
  oneOf(['PENDING', 'ACTIVE', 'REVOKED'], {
    description: 'PENDING until the wallet has said what it may sign; REVOKED ones sign no more.',
  }),
);

const DelegatedKey = named(
  'DelegatedKey',
  Type.Object(
    {
      id: text('Id of the key.'),
      cardId: text('The card that it pays for.'),
      fundingSourceId: text('What binds the card to the wallet.'),
      accountId: text('The embedded wallet that it pays from.'),
      publicKey: text('P-256 public key, compressed, lower-case hex.'),
      nickname: text('The name it was given.'),
      status: DelegatedKeyStatus,
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A key in our keeping that signs payments of one card for a wallet.' },
  ),
);
export type DelegatedKeyView = Static<typeof DelegatedKey>;

const DelegatedKeySignedRequestChallenge = named(
  'DelegatedKeySignedRequestChallenge',
  Type.Object(
    { ...SignedRequestChallenge.properties },
    { description: 'What a session of the wallet must sign next, in each of two rounds.' },
  ),
);

const isBlank = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.trim() === '';

export const createDelegatedKey = operation({
  operationId: 'createDelegatedKey',
  method: 'POST',
  path: '/auth/delegated-keys',
  tag: TAG,
  summary: 'Let a card pay from an embedded wallet',
  description:
    'Three requests with one body. The second carries the signature of a session of the wallet over what ' +
    'the first was answered with, and makes the key; the third that over what the second was answered ' +
    'with, and lets the key sign. A funding source has one active key; one that was never let to sign ' +
    'is in nobody’s way.',
  permission: 'MANAGE',
  signedRetry: true,
  callsExternal: true,
  body: named(
    'DelegatedKeyCreateRequest',
    Type.Object(
      {
        cardId: text('The card.'),
        internalAccountId: text('The embedded wallet, one of the funding sources of the card.'),
        nickname: text('A name for the key.', { minLength: 1, maxLength: 256 }),
      },
      {
        description: 'Which card may pay from which wallet.',
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
    'All keys of a wallet, of a funding source, or of both, oldest first and whatever their status. At ' +
    'least one of the two must be named; what is not there has none.',
  permission: 'VIEW',
  query: Type.Object({
    accountId: Type.Optional(text('Those of this embedded wallet.')),
    fundingSourceId: Type.Optional(text('Those of this funding source of a card.')),
  }),
  replies: {
    200: named(
      'DelegatedKeyListResponse',
      Type.Object(
        { data: Type.Array(DelegatedKey, { description: 'The keys.' }) },
        { description: 'Delegated keys.' },
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
  description: 'From then on the card cannot pay from the wallet. Nothing is signed for it.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'NOT_FOUND',
});
