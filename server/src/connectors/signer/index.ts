// The built-in custodian, where the server lends it keys.
import { Type } from '@sinclair/typebox';
import { defineConnector } from '../connector.ts';
import { localCustody } from './custody.ts';

export const signer = defineConnector({
  name: 'signer',
  description: 'Keeps seeds and keys of embedded wallets, sealed under the master key.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({}),
  capabilities: [],
  optional: ['custody'],
  fallbackFor: ['custody'],
  // Wallets of the sandbox hold nothing, so its export bundles carry no attestation.
  open: ({ mode, effects, keys }) =>
    keys ? { custody: localCustody(effects, keys, { attests: mode === 'production' }) } : {},
});
