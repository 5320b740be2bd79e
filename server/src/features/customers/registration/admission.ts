// Rules of a platform for a customer: currencies, UMA domain, and requirements of the region and of
// the providers of the selected currencies. Pure functions of the customer that a request would
// produce. Violations with the same error code are reported with this code. Different codes are
// reported together as INVALID_INPUT.

import {
  isOfferedIn,
  isRegion,
  providerRequiredCustomerFields,
} from '../../../catalog/currencies/offers.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { type Code, Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { requiresContactVerification } from '../eligibility/index.ts';
import { type CustomerDetails, checkDigitErrors, type TermsConsent } from '../profiles/index.ts';
import type { CustomerRow } from '../records/index.ts';
import { consentErrors } from './terms.ts';
import { umaAddressError } from './uma.ts';

/**
 * Customer that a request would produce. Optional fields are set only if the request changes them.
 */
export interface Candidate {
  type: CustomerRow['type'];
  region: string | null;
  email: string | null;
  phone: string | null;
  details: CustomerDetails;
  /** Identity number of an individual. */
  identifier: string | null;
  /** Currencies that this request selects. */
  currencies?: readonly string[] | undefined;
  /** UMA address that this request sets, in lower case. */
  umaAddress?: string | undefined;
  /** Consent that this request records. */
  consent?: TermsConsent | undefined;
}

export type Violation = FieldError & { code: Code };

/** Throws one error that lists all violations. */
export function rejectViolations(violations: readonly Violation[]): void {
  const [firstViolation] = violations;
  if (!firstViolation) return;
  const haveSameCode = violations.every((each) => each.code === firstViolation.code);
  const errors = violations.map(({ code: _, ...error }) => error);
  throw invalid(errors, haveSameCode ? firstViolation.code : 'INVALID_INPUT');
}

export const asViolations = (errors: readonly FieldError[]): Violation[] =>
  errors.map((error) => ({ ...error, code: 'INVALID_INPUT' }));

type Channels = NonNullable<CustomerRow['contact_verification']>;

/**
 * Verification of contact channels after an update, or null if verification is not required. A
 * changed contact becomes PENDING.
 */
export function channelsAfter(
  isRequired: boolean,
  previousStatuses: Channels | null,
  changedContacts: { email: boolean; phone: boolean },
): Channels | null {
  if (!isRequired) return null;
  const statusAfter = (name: keyof Channels) =>
    changedContacts[name] ? 'PENDING' : (previousStatuses?.[name] ?? 'PENDING');
  return { email: statusAfter('email'), phone: statusAfter('phone') };
}

const CONTACT_COLUMNS = { email: 'email', phoneNumber: 'phone' } as const;

function contactViolations(candidate: Candidate): Violation[] {
  const message = 'is required in the region of the customer';
  const missingFields: string[] = Object.entries(CONTACT_COLUMNS)
    .filter(([, column]) => candidate[column] === null)
    .map(([field]) => field);
  if (candidate.type === 'BUSINESS') {
    const company = candidate.details.businessInfo;
    if (!company?.primaryContactFirstName?.trim())
      missingFields.push('businessInfo.primaryContactFirstName');
    if (!company?.primaryContactLastName?.trim())
      missingFields.push('businessInfo.primaryContactLastName');
  }
  return missingFields.map((field) => ({ field, message, code: 'INVALID_INPUT' }));
}

/** Field that holds a fact requested by providers, for individuals and for businesses. */
const FIELDS_BY_FACT: Readonly<Record<string, readonly [individual: string, business: string]>> = {
  FULL_NAME: ['fullName', 'businessInfo.legalName'],
  COMPANY_LEGAL_NAME: ['', 'businessInfo.legalName'],
  BIRTH_DATE: ['birthDate', ''],
  NATIONALITY: ['nationality', ''],
  POSTAL_ADDRESS: ['address', 'address'],
  COUNTRY_OF_RESIDENCE: ['address', 'businessInfo.country'],
  EMAIL: ['email', 'email'],
  PHONE_NUMBER: ['phoneNumber', 'phoneNumber'],
  TAX_ID: ['identifier', 'businessInfo.taxId'],
  IDENTIFIER: ['identifier', 'businessInfo.taxId'],
  ID_TYPE: ['idType', ''],
  ID_NUMBER: ['identifier', ''],
  REGISTRATION_NUMBER: ['', 'businessInfo.registrationNumber'],
  BUSINESS_TYPE: ['', 'businessInfo.businessType'],
};

function isProvided(candidate: Candidate, path: string): boolean {
  if (path === 'email') return candidate.email !== null;
  if (path === 'phoneNumber') return candidate.phone !== null;
  if (path === 'identifier') return candidate.identifier !== null;
  const [outerName = '', innerName] = path.split('.');
  const outerValue = (candidate.details as Record<string, unknown>)[outerName];
  const value = innerName
    ? (outerValue as Record<string, unknown> | undefined)?.[innerName]
    : outerValue;
  return value !== undefined && value !== '';
}

/** Facts that the providers of `currencies` require and the customer lacks. */
function providerFactViolations(candidate: Candidate, currencies: readonly string[]): Violation[] {
  const requiredBy = new Map<string, string[]>();
  for (const currency of currencies) {
    for (const fact of providerRequiredCustomerFields(currency)) {
      const path = FIELDS_BY_FACT[fact]?.[candidate.type === 'INDIVIDUAL' ? 0 : 1];
      if (!path || isProvided(candidate, path)) continue;
      requiredBy.set(path, [...(requiredBy.get(path) ?? []), currency]);
    }
  }
  return [...requiredBy].map(([field, codes]) => ({
    field,
    message: `is required for ${codes.join(', ')}`,
    code: 'MISSING_MANDATORY_USER_INFO',
  }));
}

function currencyViolations(
  platform: PlatformRow,
  selectedCurrencies: readonly string[],
): Violation[] {
  const offeredCodes = platform.currencies.map((each) => each.currencyCode);
  const unknownCodes = selectedCurrencies.filter((code) => !offeredCodes.includes(code));
  if (!unknownCodes.length) return [];
  const message = `contains currencies that the platform has not enabled: ${unknownCodes.join(', ')}`;
  const constraint = { enum: offeredCodes };
  return [{ field: 'currencies', constraint, message, code: 'INVALID_INPUT' }];
}

function dateViolations(details: CustomerDetails, now: Time): Violation[] {
  const days = [
    ['birthDate', details.birthDate],
    ['businessInfo.incorporatedOn', details.businessInfo?.incorporatedOn],
  ] as const;
  const today = iso(now).slice(0, 10);
  return days.flatMap(([field, day]) =>
    day !== undefined && day > today
      ? [
          {
            field,
            constraint: { format: 'date' },
            message: 'must not be in the future',
            code: 'INVALID_INPUT',
          },
        ]
      : [],
  );
}

/** All violations of the customer on this platform. */
export function violationsOf(candidate: Candidate, platform: PlatformRow, now: Time): Violation[] {
  const violations = dateViolations(candidate.details, now);
  const report = (field: string, message: string, code: Code = 'INVALID_INPUT') =>
    violations.push({ field, message, code });
  if (candidate.region !== null && !isRegion(candidate.region))
    report('region', 'must be an ISO 3166-1 alpha-2 country code or EU');
  if (candidate.umaAddress !== undefined) {
    const problem = umaAddressError(candidate.umaAddress, platform.uma_domain);
    if (problem) report('umaAddress', problem, 'INVALID_UMA_ADDRESS');
  }
  if (platform.environment === 'production') {
    violations.push(
      ...asViolations(checkDigitErrors({ ...candidate.details, identifier: candidate.identifier })),
    );
  }
  if (requiresContactVerification(platform, candidate))
    violations.push(...contactViolations(candidate));
  if (candidate.consent) violations.push(...consentErrors(candidate.consent, now));
  if (candidate.currencies) {
    violations.push(...currencyViolations(platform, candidate.currencies));
    violations.push(...providerFactViolations(candidate, candidate.currencies));
  }
  return violations;
}

/**
 * Throws NOT_IMPLEMENTED if a selected currency is not offered in the region, or, without a
 * selection, if no currency of the platform is offered.
 */
export function assertCurrenciesOffered(
  platform: PlatformRow,
  region: string | null,
  selectedCurrencies?: readonly string[],
) {
  if (region === null) return;
  const requestedCurrencies =
    selectedCurrencies ?? platform.currencies.map((each) => each.currencyCode);
  const unsupportedCodes = requestedCurrencies.filter((code) => !isOfferedIn(region, code));
  if (
    !unsupportedCodes.length ||
    (!selectedCurrencies && unsupportedCodes.length < requestedCurrencies.length)
  )
    return;
  const codes = unsupportedCodes.join(', ');
  const reason = `These currencies are not offered in ${region}: ${codes}. Select other currencies.`;
  throw new Fault('NOT_IMPLEMENTED', reason, { region, currencies: unsupportedCodes });
}
