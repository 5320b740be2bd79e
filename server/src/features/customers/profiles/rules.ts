// Rules for customers that a schema cannot express, because they relate fields or require a country
// list. They validate the complete customer that a request would produce. Bodies that fail the
// schema are also validated here, so that one reply reports all errors.
import { countryName, isCountry } from '../../../catalog/identity/countries.ts';
import {
  hasTaxIdentifierFormat,
  hasValidCheckDigits,
  TAX_IDENTIFIERS,
  usesUsTaxIdentifiers,
} from '../../../catalog/identity/tax-identifiers.ts';
import type { FieldConstraint, FieldError } from '../../../kernel/fault.ts';
import { NAME_CHARACTERS, PERSONAL_ID_TYPES } from './fields.ts';

export type Json = Record<string, unknown>;
export type Report = (field: string, message: string, constraint?: FieldConstraint) => void;

const NAME_PATTERN = /^[\p{L}\p{M}\p{N}'’.,-]+( [\p{L}\p{M}\p{N}'’.,-]+)*$/u;

const US_IDENTIFIERS = new Map<unknown, FieldConstraint & { pattern: string }>([
  ['SSN', { format: 'us-ssn', pattern: '^\\d{3}-\\d{2}-\\d{4}$' }],
  ['ITIN', { pattern: '^9\\d{2}-\\d{2}-\\d{4}$' }],
  ['EIN', { pattern: '^\\d{2}-\\d{7}$' }],
]);

const US_EXAMPLES = { SSN: '123-45-6789', ITIN: '912-34-5678', EIN: '12-3456789' };
type UsIdentifier = keyof typeof US_EXAMPLES;

/** Format of an identifier whose country is unknown or has no recorded format. */
const ANY_IDENTIFIER = '3 to 30 letters and digits';

/** The first character is a letter or digit, so that a masked number from a reply is rejected. */
const NATIONAL_IDENTIFIER_PATTERN = /^(?=.{1,64}$)[\p{L}\p{N}][\p{L}\p{N} .,'’&()/_-]*$/u;

/** An EIN, or the SSN of a sole proprietor. */
const US_TAX_ID_PATTERN = '^(\\d{2}-\\d{7}|\\d{3}-\\d{2}-\\d{4})$';

const COUNTRY_CONSTRAINT: FieldConstraint = { format: 'iso3166-1-alpha-2' };

const US_CONSTRAINT: FieldConstraint = { enum: ['US'] };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectAt = (value: unknown, name: string): Json => {
  const property = isObject(value) ? value[name] : undefined;
  return isObject(property) ? property : {};
};

export const isPresent = (value: unknown) => value !== undefined && value !== null;

export function countryRule(
  report: Report,
  values: Json,
  prefix: string,
  names: readonly string[],
): void {
  for (const name of names) {
    const codes = [values[name]].flat();
    const unknownCodes = codes.filter((code) => typeof code === 'string' && !isCountry(code));
    if (unknownCodes.length)
      report(prefix + name, `${unknownCodes.join(', ')} is not a country code`, COUNTRY_CONSTRAINT);
  }
}

const ADDRESS_TEXTS = ['line1', 'line2', 'city', 'state', 'postalCode'] as const;
const MAX_ADDRESS_LENGTH = 255;

/** Validates the country of an address and the length of its fields. */
export function addressRule(report: Report, values: Json, prefix = ''): void {
  const address = objectAt(values, 'address');
  countryRule(report, address, `${prefix}address.`, ['country']);
  for (const name of ADDRESS_TEXTS) {
    const value = address[name];
    if (typeof value !== 'string' || value.length <= MAX_ADDRESS_LENGTH) continue;
    const message = `must not be longer than ${MAX_ADDRESS_LENGTH} characters`;
    report(`${prefix}address.${name}`, message, { maxLength: MAX_ADDRESS_LENGTH });
  }
}

export function nameRule(
  report: Report,
  values: Json,
  prefix: string,
  names: readonly string[],
): void {
  for (const name of names) {
    const value = values[name];
    if (typeof value === 'string' && value !== '' && !NAME_PATTERN.test(value)) {
      report(prefix + name, `may contain only ${NAME_CHARACTERS}`, {
        pattern: NAME_PATTERN.source,
      });
    }
  }
}

const OTHER_DESCRIPTIONS = [
  ['sourceOfFundsCategories', 'sourceOfFundsOtherDescription'],
  ['sourceOfWealthCategories', 'sourceOfWealthOtherDescription'],
  ['purposeOfAccount', 'purposeOfAccountOtherDescription'],
] as const;

function otherDescriptionRule(report: Report, values: Json, prefix: string): void {
  for (const [choice, description] of OTHER_DESCRIPTIONS) {
    const text = values[description];
    const isDescribed = typeof text === 'string' && text.trim() !== '';
    if ([values[choice]].flat().includes('OTHER') && !isDescribed) {
      report(prefix + description, `is required when ${choice} is OTHER`, { minLength: 1 });
    }
  }
}

/** Validates a number of a country other than the US by the published format. */
function nationalIdentifierRule(report: Report, values: Json, prefix: string): void {
  const { identifier, countryOfIssuance: issuer } = values;
  if (usesUsTaxIdentifiers(issuer)) {
    report(
      `${prefix}countryOfIssuance`,
      'must not be the US or a US territory for this type of identifier',
    );
    return;
  }
  const country = typeof issuer === 'string' ? issuer : '';
  if (typeof identifier !== 'string') return;
  if (NATIONAL_IDENTIFIER_PATTERN.test(identifier) && hasTaxIdentifierFormat(country, identifier))
    return;
  const row = TAX_IDENTIFIERS.get(country);
  const format = row?.example ? `, such as ${row.example}` : `, with ${ANY_IDENTIFIER}`;
  const message = row
    ? `is not a well-formed ${row.name} of ${countryName(country)}${format}`
    : `must have ${ANY_IDENTIFIER}, and begin with a letter or digit`;
  report(`${prefix}identifier`, message, row ? { pattern: row.pattern } : undefined);
}

/** Validates an identity number by type and issuer. Absent fields are not validated. */
export function identifierRule(report: Report, values: Json, prefix = ''): void {
  const { idType, identifier, countryOfIssuance: issuer } = values;
  if (idType === 'NON_US_TAX_ID') nationalIdentifierRule(report, values, prefix);
  const constraint = US_IDENTIFIERS.get(idType);
  if (!constraint) return;
  if (typeof issuer === 'string' && issuer !== 'US') {
    report(`${prefix}countryOfIssuance`, 'must be US', US_CONSTRAINT);
  }
  if (typeof identifier === 'string' && !new RegExp(constraint.pattern).test(identifier)) {
    report(
      `${prefix}identifier`,
      `must be an ${idType} such as ${US_EXAMPLES[idType as UsIdentifier]}`,
      constraint,
    );
  }
}

/** An identity number and its type require each other. A NON_US_TAX_ID also requires an issuer. */
export function identifierPairRule(report: Report, values: Json, prefix = ''): void {
  const { idType, identifier, countryOfIssuance: issuer } = values;
  if (isPresent(idType) && !isPresent(identifier))
    report(`${prefix}identifier`, 'is required with idType');
  if (isPresent(identifier) && !isPresent(idType))
    report(`${prefix}idType`, 'is required with identifier');
  if (idType === 'NON_US_TAX_ID' && !isPresent(issuer)) {
    report(`${prefix}countryOfIssuance`, 'is required with NON_US_TAX_ID');
  }
}

/**
 * Validates the check digits of an identity number. Applied in production only, because sandbox
 * numbers are fictitious.
 */
export function checkDigitErrors(
  identification: { idType?: unknown; identifier?: unknown; countryOfIssuance?: unknown },
  prefix = '',
): FieldError[] {
  const { idType, identifier, countryOfIssuance: issuer } = identification;
  if (idType !== 'NON_US_TAX_ID' || typeof identifier !== 'string') return [];
  if (typeof issuer !== 'string' || hasValidCheckDigits(issuer, identifier)) return [];
  return [{ field: `${prefix}identifier`, message: 'has invalid check digits' }];
}

/** Restricts the type to types of individuals. */
function idTypeRule(report: Report, { idType }: Json): void {
  if (typeof idType !== 'string' || PERSONAL_ID_TYPES.some((each) => each === idType)) return;
  const message = `must be ${PERSONAL_ID_TYPES.join(', ')} for an individual`;
  report('idType', message, { enum: [...PERSONAL_ID_TYPES] });
}

function taxIdRule(report: Report, business: Json): void {
  const { country, taxId } = business;
  if (typeof taxId !== 'string') return;
  const isValid =
    country === 'US' ? new RegExp(US_TAX_ID_PATTERN).test(taxId) : taxId.trim() !== '';
  if (isValid) return;
  const { EIN, SSN } = US_EXAMPLES;
  if (country === 'US') {
    const message = `must be an EIN such as ${EIN}, or an SSN such as ${SSN}`;
    report('businessInfo.taxId', message, { pattern: US_TAX_ID_PATTERN });
  } else report('businessInfo.taxId', 'must not be blank', { minLength: 1 });
}

function legalNameRule(report: Report, business: Json): void {
  const { legalName } = business;
  if (typeof legalName === 'string' && legalName.trim() === '') {
    report('businessInfo.legalName', 'must not be blank', { minLength: 1 });
  }
}

/** Rules for single fields. */
function fieldRules(report: Report, body: Json): void {
  addressRule(report, body);
  if (body.customerType === 'BUSINESS') {
    const business = objectAt(body, 'businessInfo');
    countryRule(report, business, 'businessInfo.', [
      'country',
      'countriesOfOperation',
      'expectedRecipientJurisdictions',
      'expectedCounterpartyCountries',
    ]);
    nameRule(report, business, 'businessInfo.', [
      'primaryContactFirstName',
      'primaryContactLastName',
    ]);
    legalNameRule(report, business);
    return;
  }
  countryRule(report, body, '', ['nationality', 'countryOfIssuance']);
  nameRule(report, body, '', ['fullName']);
  idTypeRule(report, body);
  if (body.idType !== 'EIN') identifierRule(report, body);
}

/** Rules that require the complete customer. */
function crossFieldRules(report: Report, body: Json): void {
  if (body.customerType === 'BUSINESS') {
    const business = objectAt(body, 'businessInfo');
    otherDescriptionRule(report, business, 'businessInfo.');
    taxIdRule(report, business);
    return;
  }
  otherDescriptionRule(report, body, '');
  identifierPairRule(report, body);
}

/** Errors of a body by `rules`. None if the body is not an object. */
export function collectErrors(
  body: unknown,
  rules: readonly ((report: Report, body: Json) => void)[],
): FieldError[] {
  const errors: FieldError[] = [];
  if (!isObject(body)) return errors;
  const report: Report = (field, message, constraint) =>
    void errors.push({ field, ...(constraint ? { constraint } : {}), message });
  for (const rule of rules) rule(report, body);
  return errors;
}

/** Errors of a complete customer, from a request or after an update. */
export const customerErrors = (customer: unknown): FieldError[] =>
  collectErrors(customer, [fieldRules, crossFieldRules]);

function oneContactRule(report: Report, body: Json): void {
  if (body.email === undefined || body.phoneNumber === undefined) return;
  for (const field of ['email', 'phoneNumber']) {
    report(field, 'email and phoneNumber cannot be changed in one request');
  }
}

/** Errors of an update that do not depend on the stored customer. */
export const updateErrors = (change: unknown): FieldError[] =>
  collectErrors(change, [fieldRules, oneContactRule]);
