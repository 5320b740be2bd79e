// Keys that sign webhooks, and their rotation. The keys belong to the installation. The public keys
// are published, so every operator with the permission may read them.
import { Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { named, oneOf, text, time } from '../../kernel/schema.ts';
import {
  DEFAULT_OVERLAP_HOURS,
  HOUR_MS,
  MAX_OVERLAP_HOURS,
  retireSigningKey,
  rotateSigningKeys,
} from '../../runtime/security/key-rotation.ts';
import {
  KEY_ALGORITHMS,
  KEY_STATUSES,
  presentPublicKey,
  publicKeys,
} from '../../runtime/security/keys.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';
import { Environment } from './platforms.ts';

const TAG = 'Signing Keys';

const SigningKey = named(
  'SigningKey',
  Type.Object(
    {
      keyId: text('ID of the key: its JWK thumbprint (RFC 7638).'),
      environment: Environment,
      algorithm: oneOf(KEY_ALGORITHMS, { description: 'Algorithm of the key.' }),
      status: oneOf(KEY_STATUSES, {
        description:
          'announced: published, not signing yet. active: signing. superseded: replaced by a later key, ' +
          'still published. retired: no longer published.',
      }),
      publicKeyPem: text('Public key as PEM.'),
      createdAt: time('Time from which the key is published.'),
      activeFrom: time('Time from which the key signs.'),
      retiredAt: Type.Optional(
        time('Time until which the key is published. Absent if none is set.'),
      ),
    },
    { description: 'A public key that verifies webhooks.' },
  ),
);
const SigningKeys = named(
  'SigningKeys',
  Type.Object(
    { keys: Type.Array(SigningKey, { description: 'Keys, newest first.' }) },
    { description: 'Public keys that verify webhooks, newest first.' },
  ),
);

const listKeys = operation({
  operationId: 'listSigningKeys',
  method: 'GET',
  path: '/signing-keys',
  tag: TAG,
  summary: 'List the keys that sign webhooks',
  description: 'Returns the public keys of both environments, newest first.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: ['keys show', 'webhooks keys list'],
  replies: { 200: SigningKeys },
  errors: [],
});

const rotate = operation({
  operationId: 'rotateSigningKeys',
  method: 'POST',
  path: '/signing-keys/rotations',
  tag: TAG,
  summary: 'Rotate the keys that sign webhooks',
  description:
    'Publishes a new pair of keys. The new pair signs after the overlap. The earlier pair remains ' +
    'published for the same time after that. Returns the published keys of the environment. ' +
    'Returns CONFLICT while a rotation is in progress.',
  auth: 'operator',
  operatorPermission: 'keys.manage',
  wholeInstallation: true,
  commands: ['webhooks keys rotate'],
  body: Type.Object({
    environment: Environment,
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP_HOURS,
        default: DEFAULT_OVERLAP_HOURS,
        description:
          'Hours until the new keys become active. With 0, they become active after 5 seconds. ' +
          `Defaults to ${DEFAULT_OVERLAP_HOURS}.`,
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 200: SigningKeys },
  errors: [],
});

const retire = operation({
  operationId: 'retireSigningKey',
  method: 'POST',
  path: '/signing-keys/{keyId}/retire',
  tag: TAG,
  summary: 'Stop publishing a key',
  description:
    'Stops the publication of both keys of a pair immediately and returns the keys. ' +
    'An announced pair that is retired never becomes active. Returns CONFLICT for an active key.',
  auth: 'operator',
  operatorPermission: 'keys.manage',
  wholeInstallation: true,
  commands: ['webhooks keys retire'],
  params: Type.Object({ keyId: text('ID of a key that is not active.') }),
  body: Type.Object(OptionalReason),
  bodyOptional: true,
  replies: { 200: SigningKeys },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const signingKeyOperations = [
  operatorHandle(listKeys, async ({ installation }) => ({
    status: 200,
    body: { keys: (await publicKeys(installation.runtime)).map(presentPublicKey) },
  })),
  operatorHandle(rotate, async ({ installation: { runtime } }, { body }) => {
    const { environment, overlapHours = DEFAULT_OVERLAP_HOURS } = body;
    const overlapMs = overlapHours * HOUR_MS;
    const keys = await rotateSigningKeys(runtime, environment, overlapMs);
    return { status: 200, body: { keys: keys.map(presentPublicKey) } };
  }),
  operatorHandle(retire, async ({ installation }, { params: { keyId } }) => ({
    status: 200,
    body: { keys: (await retireSigningKey(installation.runtime, keyId)).map(presentPublicKey) },
  })),
];
