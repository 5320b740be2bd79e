// Identity checks by an HTTP service of the operator. Without the service, a provider or an
// operator decides.
import { Type } from '@sinclair/typebox';
import { serviceSetting } from '../../kernel/settings.ts';
import { defineConnector } from '../connector.ts';
import { httpIdentity } from './identity.ts';

export const bridge = defineConnector({
  name: 'bridge',
  description: 'Posts identity checks to a service.',
  modes: ['production'],
  settings: Type.Object({
    identityUrl: serviceSetting({
      env: 'RAILHEAD_IDENTITY_URL',
      flag: 'identity-url',
      help: 'URL of a service that verifies production customers. Default: a provider or an operator decides',
      secret: true,
    }),
  }),
  capabilities: ['identity'],
  open: ({ provider, reportProblem }, { identityUrl }) => ({
    identity: httpIdentity(provider('identity'), identityUrl, reportProblem),
  }),
});
