// UMA addresses of the form `$name@domain`: validation, and generation for customers without a
// specified address. Addresses are case-insensitive and stored in lower case.
import type { Effects } from '../../../kernel/effects.ts';

/** Maximum length of the part before the @, `$` included. */
const MAX_USER_LENGTH = 64;
const ADDRESS_FORM = /^(\$[a-z0-9\-_.+]+)@(.+)$/;

export const normalizeUmaAddress = (text: string): string => text.toLowerCase();

/**
 * Reason why a platform with this domain cannot assign the address, or null. Expects lower case.
 */
export function umaAddressError(address: string, domain: string): string | null {
  const [, user = '', host] = ADDRESS_FORM.exec(address) ?? [];
  if (!user) return 'must be $name@domain, with a name of letters, digits and - _ . +';
  if (user.length > MAX_USER_LENGTH)
    return `must not be longer than ${MAX_USER_LENGTH} characters before the @`;
  return host === domain ? null : `must be in the platform's domain ${domain}`;
}

/**
 * Generates an address with 80 random bits. The alphabet omits characters that are easily confused.
 */
export function generateUmaAddress(effects: Effects, domain: string): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz023456789';
  const name = [...effects.random(16)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `$${name}@${domain}`;
}
