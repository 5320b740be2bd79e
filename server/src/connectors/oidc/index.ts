// Tokens of identity providers, with verified signatures.
import { Type } from '@sinclair/typebox';
import { defineConnector } from '../connector.ts';
import { OidcIssuers } from '../ports/shared-settings.ts';
import { httpOidc } from './tokens.ts';

export const oidc = defineConnector({
  name: 'oidc',
  description: 'Verifies tokens of identity providers by their published keys.',
  modes: ['production'],
  settings: Type.Object({ oidcIssuers: OidcIssuers }),
  capabilities: ['oidc'],
  open: ({ provider, reportProblem }, { oidcIssuers: issuers }) => ({
    oidc: httpOidc(provider('oidc'), { issuers, reportProblem }),
  }),
});
