// Claims of an OpenID Connect token: issuer, audience, subject and times. They are validated in
// every mode; the signature is verified by the connector, which has the keys of the provider. Error
// reasons name the claim and contain nothing of the token.
import type { Time } from '../../kernel/effects.ts';

/** Claims of a valid token. */
export interface OidcIdentity {
  /** In the canonical spelling of the provider. */
  issuer: string;
  audience: string;
  subject: string;
  email?: string;
  nonce?: string;
}

/**
 * `malformed`: not a token, or of an unknown provider. `refused`: well-formed and invalid. `reason`
 * is a sentence for people and contains nothing of the token.
 */
export type OidcProblem = { problem: 'malformed' | 'refused'; reason: string };
export type OidcVerdict = { identity: OidcIdentity } | OidcProblem;

/** A parsed token without validation of its claims. */
export interface OidcToken {
  /** A supported provider, in its canonical spelling. */
  issuer: string;
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

const GOOGLE = 'https://accounts.google.com';

/** Built-in providers, and their names in the text that a wallet signs. */
const NAMES: Readonly<Record<string, string>> = {
  [GOOGLE]: 'Google',
  'https://appleid.apple.com': 'Apple',
};

/** Providers with several spellings of their name. */
const SPELLINGS: Readonly<Record<string, string>> = { 'accounts.google.com': GOOGLE };

export const OIDC_ISSUERS: readonly string[] = Object.keys(NAMES);

/** Display name of a provider; the host for one that the operator added. */
export const providerName = (issuer: string): string => NAMES[issuer] ?? new URL(issuer).host;

const MAX_AGE_S = 60;
/** Tolerated difference of clocks. */
const AHEAD_S = 5;
/** Maximum length in OpenID Connect. */
const MAX_SUBJECT = 255;
const MAX_EMAIL = 320;

const malformed = (reason: string): OidcProblem => ({ problem: 'malformed', reason });
const refused = (reason: string): OidcProblem => ({ problem: 'refused', reason });

const SEGMENT = /^[A-Za-z0-9_-]+$/;

function jsonOf(segment: string): Record<string, unknown> | undefined {
  if (!SEGMENT.test(segment)) return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString());
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a token; `further` are providers in addition to the built-in ones. */
export function readOidcToken(
  token: string,
  further: readonly string[],
): { token: OidcToken } | OidcProblem {
  const segments = token.split('.');
  const [header, claims] = segments.slice(0, 2).map(jsonOf);
  if (segments.length !== 3 || !header || !claims) return malformed('is not a JSON Web Token');
  const { iss } = claims;
  const issuer = typeof iss === 'string' ? (SPELLINGS[iss] ?? iss) : '';
  if (!OIDC_ISSUERS.includes(issuer) && !further.includes(issuer)) {
    return malformed('is from an unsupported issuer');
  }
  return { token: { issuer, header, claims } };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isTime = (value: unknown): value is number => Number.isFinite(value);

/** A token for several apps does not identify the app that requested it. */
function audienceOf(aud: unknown): string | undefined {
  const one = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  return isText(one) ? one : undefined;
}

/** The error of the token's times, as a sentence. */
function staleness({ iat, exp, nbf }: OidcToken['claims'], now: Time): string | undefined {
  const seconds = now / 1000;
  if (!isTime(iat)) return 'The iat of the token is not a number.';
  if (seconds - iat > MAX_AGE_S) return `The token is too old: iat is over ${MAX_AGE_S} s ago.`;
  if (iat - seconds > AHEAD_S) return 'The iat of the token is in the future.';
  if (!isTime(exp)) return 'The exp of the token is not a number.';
  if (exp <= seconds) return 'The token has expired.';
  if (nbf === undefined) return undefined;
  if (!isTime(nbf)) return 'The nbf of the token is not a number.';
  return nbf - seconds > AHEAD_S ? 'The token is not valid yet.' : undefined;
}

/** The validated claims of a well-formed token. */
export function judgeOidcClaims({ issuer, claims }: OidcToken, now: Time): OidcVerdict {
  const { sub, email, nonce } = claims;
  const audience = audienceOf(claims.aud);
  if (audience === undefined) return refused('The aud of the token must be a single audience.');
  if (!isText(sub) || sub.length > MAX_SUBJECT) {
    return refused(`The sub of the token must have 1 to ${MAX_SUBJECT} characters.`);
  }
  const stale = staleness(claims, now);
  if (stale) return refused(stale);
  return {
    identity: {
      issuer,
      audience,
      subject: sub,
      ...(isText(email) && email.length <= MAX_EMAIL ? { email } : {}),
      ...(isText(nonce) ? { nonce } : {}),
    },
  };
}
