// The built-in custodian, if the server provides keys.
import { Type } from '@sinclair/typebox';
import { defineConnector } from '../connector.ts';
import { localCustody } from './custody.ts';

export const signer = defineConnector({
  name: 'signer',
  description: 'Generates seeds and keys of embedded wallets and seals them under the master key.',
  modes: ['sandbox', 'production'],
  settings: Type.Object({}),
  capabilities: [],
  optional: ['custody'],
  fallbackFor: ['custody'],
  // Sandbox wallets hold no assets, so export bundles are not attested.
  open: ({ mode, effects, keys }) =>
    keys ? { custody: localCustody(effects, keys, { attests: mode === 'production' }) } : {},
});
