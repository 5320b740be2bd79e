// Keys in custody of a provider, which generates them and signs payloads with them.

import { Type } from '@sinclair/typebox';
import { named } from '../../../kernel/schema.ts';
import { type ProviderCall, shortText } from './fields.ts';

const KeyId = shortText('Unique ID of the key, identical in every attempt.');
const Reference = shortText('ID of the key at the provider.');

export const CustodyKey = named(
  'CustodyKey',
  Type.Object(
    {
      publicKey: Type.String({
        pattern: '^0[23][0-9a-f]{64}$',
        description: 'Compressed P-256 point, hexadecimal in lower case.',
      }),
      reference: Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'ID of the key at the provider.',
      }),
    },
    { description: 'A key. The private key never leaves the provider.' },
  ),
);

export const CustodySignature = named(
  'CustodySignature',
  Type.Object(
    {
      signature: Type.String({
        pattern: '^30[0-9a-f]{14,142}$',
        description: 'ECDSA signature over the SHA-256 digest of the payload: DER, hexadecimal.',
      }),
    },
    { description: 'A signature. Railhead verifies it with the public key.' },
  ),
);

export const CUSTODY_CALLS: Readonly<Record<string, ProviderCall>> = {
  '/custody/keys': {
    operationId: 'createCustodyKey',
    summary: 'Generate a P-256 key. Repeated calls return the same key',
    input: Type.Object({ keyId: KeyId }, { description: 'Requests a key.' }),
    output: CustodyKey,
  },
  '/custody/sign': {
    operationId: 'signWithCustodyKey',
    summary: 'Sign a payload with a key',
    input: Type.Object(
      {
        keyId: KeyId,
        reference: Reference,
        payload: Type.String({ maxLength: 65_536, description: 'Text that is signed in UTF-8.' }),
      },
      { description: 'Requests a signature.' },
    ),
    output: CustodySignature,
  },
};
