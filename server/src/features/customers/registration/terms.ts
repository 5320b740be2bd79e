// The end-user terms: which versions there are, and whether a consent can be true. The text itself is the
// operator's; the server knows versions so that a consent names one that was really shown.

import type { Code, FieldError } from '../../../kernel/fault.ts';
import { isIpAddress } from '../../../kernel/net/endpoint.ts';
import type { Time } from '../../../kernel/world.ts';
import type { TermsConsent } from '../profiles/index.ts';

/** Oldest first; consents to any of them are accepted. */
const TERMS_VERSIONS = ['V1'] as const;

export const currentTermsVersion = (): string =>
  TERMS_VERSIONS[TERMS_VERSIONS.length - 1] as string;

/** Clocks of clients may run ahead by this much. */
const MAX_AHEAD_MS = 60_000;

export function consentErrors(consent: TermsConsent, now: Time): (FieldError & { code: Code })[] {
  const errors: (FieldError & { code: Code })[] = [];
  const say = (name: keyof TermsConsent, message: string, code: Code = 'INVALID_INPUT') =>
    errors.push({ field: `endUserTermsConsent.${name}`, message, code });
  if (Date.parse(consent.acceptedAt) > now + MAX_AHEAD_MS) say('acceptedAt', 'lies in the future');
  if (typeof consent.ipAddress === 'string' && !isIpAddress(consent.ipAddress))
    say('ipAddress', 'is not an IPv4 or IPv6 address');
  if (!TERMS_VERSIONS.some((version) => version === consent.termsVersion)) {
    const message = `must be one of ${TERMS_VERSIONS.join(', ')}`;
    say('termsVersion', message, 'END_USER_TERMS_VERSION_NOT_FOUND');
  }
  return errors;
}
