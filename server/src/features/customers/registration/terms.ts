// End-user terms: the versions that can be accepted, and the validation of a consent. The operator
// publishes the text. The server stores version identifiers only.

import type { Time } from '../../../kernel/effects.ts';
import type { Code, FieldError } from '../../../kernel/fault.ts';
import { isIpAddress } from '../../../kernel/net/endpoint.ts';
import type { TermsConsent } from '../profiles/index.ts';

/** Versions of the terms, oldest first. A consent to any of these versions is accepted. */
const TERMS_VERSIONS = ['V1'] as const;

export const currentTermsVersion = (): string =>
  TERMS_VERSIONS[TERMS_VERSIONS.length - 1] as string;

/** Tolerance for client clocks that are fast. */
const MAX_CLOCK_SKEW_MS = 60_000;

export function consentErrors(consent: TermsConsent, now: Time): (FieldError & { code: Code })[] {
  const errors: (FieldError & { code: Code })[] = [];
  const report = (name: keyof TermsConsent, message: string, code: Code = 'INVALID_INPUT') =>
    errors.push({ field: `endUserTermsConsent.${name}`, message, code });
  if (Date.parse(consent.acceptedAt) > now + MAX_CLOCK_SKEW_MS)
    report('acceptedAt', 'must not be in the future');
  if (typeof consent.ipAddress === 'string' && !isIpAddress(consent.ipAddress))
    report('ipAddress', 'is not an IPv4 or IPv6 address');
  if (!TERMS_VERSIONS.some((version) => version === consent.termsVersion)) {
    const message = `must be one of ${TERMS_VERSIONS.join(', ')}`;
    report('termsVersion', message, 'END_USER_TERMS_VERSION_NOT_FOUND');
  }
  return errors;
}
