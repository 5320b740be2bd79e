// Examples of the operator API: sign-in at an identity provider. The server has the time of the
// machine, because tokens of the provider expire by it.
import { describe } from 'vitest';
import { groupRolesOf } from '../../../src/runtime/config/identity-provider.ts';
import { openForFile } from '../../kit/app/test-app.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';
import { CLIENT, startIdentityProvider } from '../../kit/operator/identity-provider.ts';
import { browser } from '../../kit/operator/people.ts';

const provider = openForFile(() => startIdentityProvider());

const ACCOUNT = {
  name: 'Olga Larsson',
  email: 'olga.larsson@example.com',
  email_verified: true,
  groups: ['ops'],
};

async function recordIdentityProvider({ service, record }: OperatorRecorder) {
  const person = browser(service.app);
  provider.accounts.set('olga', ACCOUNT);
  const { state, authorizationUrl } = await record('getOperatorOidcOptions', 'all', {
    summary: 'The address of the identity provider',
    person,
  });
  const callbackUrl = await provider.signIn(authorizationUrl, 'olga');
  await record('signInWithOidc', 'callback', {
    summary: 'Sign in with the address to which the identity provider has redirected',
    person,
    body: { state, callbackUrl },
  });
}

describe('examples of the operator API: identity provider', () => {
  operatorExamples(
    'oidc',
    { recordIdentityProvider },
    {
      options: () => ({
        start: Date.now(),
        operatorOidc: {
          issuer: provider.issuer,
          clientId: CLIENT.id,
          clientSecret: CLIENT.secret,
          roles: groupRolesOf('ops=support+treasury'),
          groupsClaim: 'groups',
        },
      }),
      replacements: [
        [/"expiresAt": "[^"]+"/g, '"expiresAt": "2026-01-05T21:00:00.000Z"'],
        [/"(createdAt|usedAt|updatedAt)": "[^"]+"/g, '"$1": "2026-01-05T09:00:00.000Z"'],
        // The separator belongs to the replaced token.
        [/\bcode_Example/g, 'code_challenge=Example'],
        [/\b(code|state|nonce)Example/g, '$1=Example'],
        [/http(:\/\/|%3A%2F%2F)localhost(:|%3A)8080/g, 'https$1console.example.com'],
        [/http(:\/\/|%3A%2F%2F)localhost(:|%3A)\d+/g, 'https$1login.example.com'],
      ],
    },
  );
});
