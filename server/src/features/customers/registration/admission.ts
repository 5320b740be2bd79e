// Whether a platform may have a customer like this: its currencies, its domain, and what the customer's
// region and the providers of the chosen currencies demand. Pure: it judges a customer as it would be
// after a request. Complaints of one kind keep that kind's error code; several kinds together are told
// under INVALID_INPUT, so that nothing is found out one request at a time.

import {
  isOfferedIn,
  isRegion,
  providerRequiredCustomerFields,
} from '../../../catalog/currencies/offers.ts';
import { type Code, Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import { iso, type Time } from '../../../kernel/world.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import { mustProveContacts } from '../eligibility/index.ts';
import { type CustomerDetails, checkDigitErrors, type TermsConsent } from '../profiles/index.ts';
import type { CustomerRow } from '../records/index.ts';
import { consentErrors } from './terms.ts';
import { umaProblem } from './uma.ts';

/** A customer as a request wants it: what is there, and what this request says anew. */
export interface Candidate {
  type: CustomerRow['type'];
  region: string | null;
  email: string | null;
  phone: string | null;
  details: CustomerDetails;
  /** The identity number of an individual. */
  identifier: string | null;
  /** Chosen by this request. */
  currencies?: readonly string[] | undefined;
  /** New with this request, in small letters. */
  umaAddress?: string | undefined;
  /** Given by this request. */
  consent?: TermsConsent | undefined;
}

export type Complaint = FieldError & { code: Code };

/** Throws one fault that names everything that was found. */
export function refuse(complaints: readonly Complaint[]): void {
  const [first] = complaints;
  if (!first) return;
  const isOneKind = complaints.every((each) => each.code === first.code);
  const errors = complaints.map(({ code: _, ...error }) => error);
  throw invalid(errors, isOneKind ? first.code : 'INVALID_INPUT');
}

export const asInvalid = (errors: readonly FieldError[]): Complaint[] =>
  errors.map((error) => ({ ...error, code: 'INVALID_INPUT' }));

type Channels = NonNullable<CustomerRow['contact_verification']>;

/** The channels after a change: a changed one starts again, one that is no longer asked for is dropped. */
export function channelsAfter(
  needed: boolean,
  was: Channels | null,
  changed: { email: boolean; phone: boolean },
): Channels | null {
  if (!needed) return null;
  const after = (name: keyof Channels) => (changed[name] ? 'PENDING' : (was?.[name] ?? 'PENDING'));
  return { email: after('email'), phone: after('phone') };
}

const PROVED = { email: 'email', phoneNumber: 'phone' } as const;

function contactComplaints(of: Candidate): Complaint[] {
  const message = 'is required in the region of this customer';
  const missing: string[] = Object.entries(PROVED)
    .filter(([, column]) => of[column] === null)
    .map(([field]) => field);
  if (of.type === 'BUSINESS') {
    const firm = of.details.businessInfo;
    if (!firm?.primaryContactFirstName?.trim())
      missing.push('businessInfo.primaryContactFirstName');
    if (!firm?.primaryContactLastName?.trim()) missing.push('businessInfo.primaryContactLastName');
  }
  return missing.map((field) => ({ field, message, code: 'INVALID_INPUT' }));
}

/** Where a fact that providers may ask for is found, for persons and for businesses. */
const FACTS: Readonly<Record<string, readonly [individual: string, business: string]>> = {
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

function isKnown(of: Candidate, path: string): boolean {
  if (path === 'email') return of.email !== null;
  if (path === 'phoneNumber') return of.phone !== null;
  if (path === 'identifier') return of.identifier !== null;
  const [first = '', second] = path.split('.');
  const outer = (of.details as Record<string, unknown>)[first];
  const value = second ? (outer as Record<string, unknown> | undefined)?.[second] : outer;
  return value !== undefined && value !== '';
}

/** What providers of `currencies` need to know and do not. */
function factComplaints(of: Candidate, currencies: readonly string[]): Complaint[] {
  const asking = new Map<string, string[]>();
  for (const currency of currencies) {
    for (const fact of providerRequiredCustomerFields(currency)) {
      const path = FACTS[fact]?.[of.type === 'INDIVIDUAL' ? 0 : 1];
      if (!path || isKnown(of, path)) continue;
      asking.set(path, [...(asking.get(path) ?? []), currency]);
    }
  }
  return [...asking].map(([field, codes]) => ({
    field,
    message: `is required for ${codes.join(', ')}`,
    code: 'MISSING_MANDATORY_USER_INFO',
  }));
}

function currencyComplaints(platform: PlatformRow, chosen: readonly string[]): Complaint[] {
  const offered = platform.currencies.map((each) => each.currencyCode);
  const unknown = chosen.filter((code) => !offered.includes(code));
  if (!unknown.length) return [];
  const message = `${unknown.join(', ')}: not a currency of this platform`;
  const constraint = { enum: offered };
  return [{ field: 'currencies', constraint, message, code: 'INVALID_INPUT' }];
}

function dayComplaints(details: CustomerDetails, now: Time): Complaint[] {
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
            message: 'is in the future',
            code: 'INVALID_INPUT',
          },
        ]
      : [],
  );
}

/** Everything that stands against this customer on this platform. */
export function complaintsAbout(of: Candidate, platform: PlatformRow, now: Time): Complaint[] {
  const found = dayComplaints(of.details, now);
  const say = (field: string, message: string, code: Code = 'INVALID_INPUT') =>
    found.push({ field, message, code });
  if (of.region !== null && !isRegion(of.region)) say('region', 'is neither a country nor EU');
  if (of.umaAddress !== undefined) {
    const problem = umaProblem(of.umaAddress, platform.uma_domain);
    if (problem) say('umaAddress', problem, 'INVALID_UMA_ADDRESS');
  }
  if (platform.environment === 'production') {
    found.push(...asInvalid(checkDigitErrors({ ...of.details, identifier: of.identifier })));
  }
  if (mustProveContacts(platform, of)) found.push(...contactComplaints(of));
  if (of.consent) found.push(...consentErrors(of.consent, now));
  if (of.currencies) {
    found.push(...currencyComplaints(platform, of.currencies));
    found.push(...factComplaints(of, of.currencies));
  }
  return found;
}

/** Throws NOT_IMPLEMENTED when a chosen currency, or every one, is not offered in the region. */
export function refuseUnserved(
  platform: PlatformRow,
  region: string | null,
  chosen?: readonly string[],
) {
  if (region === null) return;
  const wanted = chosen ?? platform.currencies.map((each) => each.currencyCode);
  const unserved = wanted.filter((code) => !isOfferedIn(region, code));
  if (!unserved.length || (!chosen && unserved.length < wanted.length)) return;
  const reason = `Not offered in ${region}: ${unserved.join(', ')}.`;
  throw new Fault('NOT_IMPLEMENTED', reason, { region, currencies: unserved });
}
