// UMA addresses, `$name@domain`: what they may look like, and drawing one for a customer who brings none.
// They are compared without regard to capitals, so they are kept in small letters.
import type { World } from '../../../kernel/world.ts';

/** `$` and name together. */
const MAX_LENGTH = 64;
const SHAPE = /^(\$[a-z0-9\-_.+]+)@(.+)$/;

export const umaAddressOf = (text: string): string => text.toLowerCase();

/** Why a platform with this domain cannot give out the address, or null. Takes it in small letters. */
export function umaProblem(address: string, domain: string): string | null {
  const [, user = '', host] = SHAPE.exec(address) ?? [];
  if (!user) return 'must be $name@domain, the name of letters, digits and - _ . +';
  if (user.length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} before the @`;
  return host === domain ? null : `must be in the platform's domain ${domain}`;
}

/** An address nobody has: 80 random bits in letters and digits that are hard to mistake. */
export function drawUmaAddress(world: World, domain: string): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz023456789';
  const name = [...world.random(16)].map((byte) => letters[byte % letters.length]).join('');
  return `$${name}@${domain}`;
}
