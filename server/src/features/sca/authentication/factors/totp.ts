// Codes that an app shows, a new one each half minute (RFC 6238: SHA-1, six digits, 30 seconds), and the
// recovery codes for those who have lost the app. Pure but for what is drawn.
import { Secret, TOTP } from 'otpauth';
import type { Effects } from '../../../../kernel/effects.ts';
import type { Vault } from '../../../../runtime/security/vault.ts';
import { generateCode, LETTERS_AND_DIGITS } from '../../../notifications/codes/index.ts';

/** Apps know no other rules, whatever an address of theirs says. */
const RULES = { algorithm: 'SHA1', digits: 6, period: 30 } as const;

/** The code of one step to either side is taken, for clocks that are a little off. */
const WINDOW = 1;

const SECRET_BYTES = 20;

/** A new secret as hexadecimal text. */
export const drawSecret = (effects: Pick<Effects, 'random'>): string =>
  Buffer.from(effects.random(SECRET_BYTES)).toString('hex');

/** The same secret as apps take it. */
export const inBase32 = (secret: string): string => Secret.fromHex(secret).base32;

/** What an app reads from a picture: `issuer` is who asks for codes, `account` who the customer is there. */
export function totpUri(secret: string, { issuer, account }: { issuer: string; account: string }) {
  // A colon would part the label elsewhere than between the two.
  const plain = (text: string) => text.replaceAll(':', ' ').trim();
  const [by, of] = [encodeURIComponent(plain(issuer)), encodeURIComponent(plain(account))];
  const rules = `algorithm=${RULES.algorithm}&digits=${RULES.digits}&period=${RULES.period}`;
  return `otpauth://totp/${by}:${of}?secret=${inBase32(secret)}&issuer=${by}&${rules}`;
}

/**
 * The step of time whose code this is, counted from 1970, or undefined where it is none of those that are
 * taken at `now` (milliseconds). Steps up to `after` were taken before.
 */
export function stepOf(
  secret: string,
  code: string,
  { now, after, digits = RULES.digits }: { now: number; after: number; digits?: number },
): number | undefined {
  // The library compares bytes, and breaks where other letters make more of them.
  if (!/^[0-9]+$/.test(code)) return undefined;
  const given = { ...RULES, digits, secret: Secret.fromHex(secret), token: code, timestamp: now };
  const delta = TOTP.validate({ ...given, window: WINDOW });
  if (delta === null) return undefined;
  const step = TOTP.counter({ period: RULES.period, timestamp: now }) + delta;
  return step > after ? step : undefined;
}

const RECOVERY = { codes: 10, length: 12, group: 4 };

/** Ten codes, each good once: XXXX-XXXX-XXXX. */
export const drawRecoveryCodes = (effects: Pick<Effects, 'random'>): string[] =>
  Array.from({ length: RECOVERY.codes }, () => {
    const code = generateCode(effects, { length: RECOVERY.length, alphabet: LETTERS_AND_DIGITS });
    return (code.match(new RegExp(`.{${RECOVERY.group}}`, 'g')) ?? []).join('-');
  });

/** The keyed hash of a recovery code of this factor, in whatever case and grouping it was typed. */
export const recoveryDigest = (vault: Vault, factorId: string, code: string): string =>
  vault.digest(
    'recovery code',
    JSON.stringify([factorId, code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '')]),
  );
