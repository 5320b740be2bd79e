// Parser of OpenID Connect ID tokens and validation of their claims: issuer, audience, subject and
// times. The rules apply in every mode. The connector validates the signature with the keys of the
// provider. Reasons never contain values of the token.
import type { Time } from '../../kernel/effects.ts';

/** Validated claims of a token. */
export interface OidcIdentity {
  /** Canonical issuer URL of the provider. */
  issuer: string;
  audience: string;
  subject: string;
  email?: string;
  nonce?: string;
}

/**
 * `malformed`: the text is not a token of a supported provider. `rejected`: the claims or the
 * signature are invalid. `reason` is an error message and never contains values of the token.
 */
export type OidcProblem = { problem: 'malformed' | 'rejected'; reason: string };
export type OidcResult = { identity: OidcIdentity } | OidcProblem;

/** A parsed token whose claims and signature are not yet validated. */
export interface OidcToken {
  /** Canonical issuer URL of a supported provider. */
  issuer: string;
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

const GOOGLE = 'https://accounts.google.com';

/** Built-in providers, with their names in the signed requests of wallets. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = {
  [GOOGLE]: 'Google',
  'https://appleid.apple.com': 'Apple',
};

/** Canonical issuer by alternative spelling. */
const ISSUER_ALIASES: Readonly<Record<string, string>> = { 'accounts.google.com': GOOGLE };

export const OIDC_ISSUERS: readonly string[] = Object.keys(PROVIDER_NAMES);

/** Display name of a provider. For a configured provider it is the host of the issuer URL. */
export const providerName = (issuer: string): string =>
  PROVIDER_NAMES[issuer] ?? new URL(issuer).host;

const MAX_AGE_S = 60;
/** Tolerance for clocks that differ. */
const CLOCK_SKEW_S = 5;
/** Limit of OpenID Connect Core. */
const MAX_SUBJECT_LENGTH = 255;
const MAX_EMAIL_LENGTH = 320;

const malformedToken = (reason: string): OidcProblem => ({ problem: 'malformed', reason });
const rejection = (reason: string): OidcProblem => ({ problem: 'rejected', reason });

const SEGMENT = /^[A-Za-z0-9_-]+$/;

function parseJsonObject(segment: string): Record<string, unknown> | undefined {
  if (!SEGMENT.test(segment)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses a token of a built-in provider or of `otherIssuers`. The caller must validate claims and
 * signature.
 */
export function parseOidcToken(
  token: string,
  otherIssuers: readonly string[],
): { token: OidcToken } | OidcProblem {
  const segments = token.split('.');
  const [header, claims] = segments.slice(0, 2).map(parseJsonObject);
  if (segments.length !== 3 || !header || !claims) return malformedToken('is not a JSON Web Token');
  const { iss } = claims;
  const issuer = typeof iss === 'string' ? (ISSUER_ALIASES[iss] ?? iss) : '';
  if (!OIDC_ISSUERS.includes(issuer) && !otherIssuers.includes(issuer)) {
    return malformedToken('is from an unsupported issuer');
  }
  return { token: { issuer, header, claims } };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTime = (value: unknown): value is number => Number.isFinite(value);

/** The only audience. With several audiences, the app that requested the token is unknown. */
function audienceOf(aud: unknown): string | undefined {
  const audience = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  return isText(audience) ? audience : undefined;
}

/** Error message for invalid times of a token. Undefined if they are valid. */
function timeError({ iat, exp, nbf }: OidcToken['claims'], now: Time): string | undefined {
  const seconds = now / 1000;
  if (!isTime(iat)) return 'The iat of the token is not a number.';
  if (seconds - iat > MAX_AGE_S)
    return `The token is too old, because its iat is over ${MAX_AGE_S} s ago.`;
  if (iat - seconds > CLOCK_SKEW_S) return 'The iat of the token is in the future.';
  if (!isTime(exp)) return 'The exp of the token is not a number.';
  if (exp <= seconds) return 'The token has expired.';
  if (nbf === undefined) return undefined;
  if (!isTime(nbf)) return 'The nbf of the token is not a number.';
  return nbf - seconds > CLOCK_SKEW_S ? 'The token is not valid yet.' : undefined;
}

export function validateOidcClaims({ issuer, claims }: OidcToken, now: Time): OidcResult {
  const { sub, email, nonce } = claims;
  const audience = audienceOf(claims.aud);
  if (audience === undefined) return rejection('The aud of the token must be a single audience.');
  if (!isText(sub) || sub.length > MAX_SUBJECT_LENGTH) {
    return rejection(`The sub of the token must have 1 to ${MAX_SUBJECT_LENGTH} characters.`);
  }
  const error = timeError(claims, now);
  if (error) return rejection(error);
  return {
    identity: {
      issuer,
      audience,
      subject: sub,
      ...(isText(email) && email.length <= MAX_EMAIL_LENGTH ? { email } : {}),
      ...(isText(nonce) ? { nonce } : {}),
    },
  };
}
