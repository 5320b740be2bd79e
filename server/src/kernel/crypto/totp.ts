// TOTP codes (RFC 6238: SHA-1, six digits, 30 seconds). Pure except for randomness.
import { Secret, TOTP } from 'otpauth';
import type { Effects } from '../effects.ts';

/** Common apps support only these values and ignore others in the URI. */
const RULES = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

/** Accepted time steps before and after the current step, for inaccurate clocks. */
const WINDOW = 1;

const SECRET_BYTES = 20;

/** Generates a secret, in hexadecimal. */
export const generateSecret = (effects: Pick<Effects, 'random'>): string =>
  Buffer.from(effects.random(SECRET_BYTES)).toString('hex');

/** The secret in Base32, for manual entry. */
export const toBase32 = (secret: string): string => Secret.fromHex(secret).base32;

/** The `otpauth` URI for a QR code. */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }) {
  // A colon separates issuer and account in the label.
  const encode = (text: string) => encodeURIComponent(text.replaceAll(':', ' ').trim());
  const [issuerLabel, accountLabel] = [encode(issuer), encode(account)];
  const rules = `algorithm=${RULES.algorithm}&digits=${RULES.digits}&period=${RULES.period}`;
  const query = `secret=${toBase32(secret)}&issuer=${issuerLabel}&${rules}`;
  return `otpauth://totp/${issuerLabel}:${accountLabel}?${query}`;
}

/**
 * The time step of a code, counted from 1970. Undefined if the code is not valid at `now` (milliseconds), or
 * if its step is not later than `after`, the latest used step.
 */
export function stepOf(
  secret: string,
  code: string,
  { now, after, digits = RULES.digits }: { now: number; after: number; digits?: number },
): number | undefined {
  // The library throws for non-ASCII input of a different byte length.
  if (!/^[0-9]+$/.test(code)) return undefined;
  const options = { ...RULES, digits, secret: Secret.fromHex(secret), token: code, timestamp: now };
  const delta = TOTP.validate({ ...options, window: WINDOW });
  if (delta === null) return undefined;
  const step = TOTP.counter({ period: RULES.period, timestamp: now }) + delta;
  return step > after ? step : undefined;
}
