// Rules for passwords: a minimum length, and an estimate of how easily a password is guessed.
import { invalidField } from '../../../kernel/fault.ts';

/** In characters. NIST SP 800-63B requires 8 for a password that is used with a second factor. */
export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 128;

/** On the scale from 0 to 4 of the estimate. 3 means more than 10^8 guesses. */
const MIN_SCORE = 3;

/**
 * Maximum number of estimated characters, because the time of an estimate grows faster than the
 * length.
 */
const MAX_ESTIMATED_LENGTH = 64;

/**
 * Throws INVALID_INPUT for a password that is common or easy to guess, also from the user's name or
 * address.
 */
export async function assertStrong(
  password: string,
  personalTexts: readonly string[],
): Promise<void> {
  // Loaded on first use, because the lists of common passwords and words use 30 MB of memory.
  const { scoreOf } = await import('./password-estimate.ts');
  const words = personalTexts.flatMap((each) => [each, ...each.split(/[\s@.]+/)]).filter(Boolean);
  if (scoreOf(password.slice(0, MAX_ESTIMATED_LENGTH), [...words, 'railhead']) >= MIN_SCORE) return;
  throw invalidField('password', 'is common or easy to guess. Use several unrelated words');
}
