// Tokens of identity providers, accepted only with a valid signature of the provider. The claims are
// validated first, because their validation needs no request.
import { type CompactVerifyGetKey, compactVerify, errors } from 'jose';
import {
  OIDC_ISSUERS,
  type OidcProblem,
  type OidcToken,
  parseOidcToken,
  validateOidcClaims,
} from '../../catalog/identity/oidc.ts';
import type { Effects } from '../../kernel/effects.ts';
import type { OidcPort } from '../ports/wallets.ts';
import { type ProviderKeys, providerKeys } from './keys.ts';

const ALGORITHMS = ['RS256', 'ES256'] as const;

interface OidcSettings {
  /** Accepted providers in addition to the built-in ones. */
  issuers: readonly string[];
  /** Receives a description of a problem with a provider. */
  reportProblem?: ((problem: string) => void) | undefined;
}

const rejection = (reason: string): OidcProblem => ({ problem: 'rejected', reason });

/** Problem of the header, found before the signature is verified. */
function headerProblem({ alg, typ, crit }: OidcToken['header']): OidcProblem | undefined {
  if (!(ALGORITHMS as readonly unknown[]).includes(alg)) {
    return rejection(`The alg of the token must be ${ALGORITHMS.join(' or ')}.`);
  }
  // A provider may sign other tokens with the same keys. The type distinguishes them.
  const isIdToken = typ === undefined || (typeof typ === 'string' && /^jwt$/i.test(typ));
  if (!isIdToken) return rejection('The typ of the token must be JWT.');
  return crit === undefined ? undefined : rejection('The crit of the token is not supported.');
}

type Signature = 'good' | 'bad' | 'unknown key';

async function signatureOf(text: string, keys: CompactVerifyGetKey): Promise<Signature> {
  try {
    await compactVerify(text, keys, { algorithms: [...ALGORITHMS] });
    return 'good';
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return 'unknown key';
    // Other errors of a token. An error of the provider's keys does not invalidate the token.
    if (error instanceof errors.JOSEError) return 'bad';
    throw error;
  }
}

async function verifySignature(text: string, keys: ProviderKeys): Promise<Signature> {
  const result = await signatureOf(text, await keys.current());
  if (result !== 'unknown key') return result;
  const refetchedKeys = await keys.refetch();
  return refetchedKeys ? signatureOf(text, refetchedKeys) : result;
}

export function httpOidc(
  effects: Effects,
  { issuers, reportProblem = () => {} }: OidcSettings,
): OidcPort {
  const providers = new Map(
    [...OIDC_ISSUERS, ...issuers].map((issuer) => [
      issuer,
      providerKeys(effects, issuer, reportProblem),
    ]),
  );
  return {
    async verify(text, now) {
      const parsedToken = parseOidcToken(text, issuers);
      if ('problem' in parsedToken) return parsedToken;
      const { token } = parsedToken;
      const problem = headerProblem(token.header);
      if (problem) return problem;
      const validation = validateOidcClaims(token, now);
      if ('problem' in validation) return validation;
      const signature = await verifySignature(text, providers.get(token.issuer) as ProviderKeys);
      if (signature === 'good') return validation;
      return signature === 'bad'
        ? rejection('The signature of the token is invalid.')
        : rejection('The token is signed with a key that its issuer does not publish.');
    },
  };
}
