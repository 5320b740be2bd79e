// The end-user terms: which versions there are, and whether a consent can be true. The text itself is the
// operator's; the server knows versions so that a consent names one that was really shown.
import ipaddr from 'ipaddr.js';
import type { Code, FieldError } from '../../../../kernel/fault.ts';
import type { Time } from '../../../../kernel/world.ts';
import type { TermsConsent } from '../store.ts';

/** Oldest first; consents to any of them are accepted. */
const TERMS_VERSIONS = ['V1'] as const;

export const currentTermsVersion = (): string =>
  TERMS_VERSIONS[TERMS_VERSIONS.length - 1] as string;

/** Clocks of clients may run ahead by this much. */
const MAX_AHEAD_MS = 60_000;

/** Whether this is an IPv4 or IPv6 address, written as such addresses are. */
export const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text));

export function consentErrors(consent: TermsConsent, now: Time): (FieldError & { code: Code })[] {
  const errors: (FieldError & { code: Code })[] = [];
  const say = (name: keyof TermsConsent, message: string, code: Code = 'INVALID_INPUT') =>
    errors.push({ field: `endUserTermsConsent.${name}`, message, code });
  if (Date.parse(consent.acceptedAt) > now + MAX_AHEAD_MS) say('acceptedAt', 'lies in the future');
  if (typeof consent.ipAddress === 'string' && !isAddress(consent.ipAddress))
    say('ipAddress', 'is not an IPv4 or IPv6 address');
  if (!TERMS_VERSIONS.some((version) => version === consent.termsVersion)) {
    const message = `must be one of ${TERMS_VERSIONS.join(', ')}`;
    say('termsVersion', message, 'END_USER_TERMS_VERSION_NOT_FOUND');
  }
  return errors;
}
