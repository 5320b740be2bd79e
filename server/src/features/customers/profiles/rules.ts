// Rules about customers that a schema cannot state, because they lie between fields or need a list of
// countries. They run on a whole customer as it would become, whatever its shape: a body that fails its
// schema is checked here too, so that one reply names everything that is wrong.
import { countryName, isCountry } from '../../../catalog/identity/countries.ts';
import {
  hasUsNumbers,
  holdsCheckDigits,
  isTaxIdentifier,
  TAX_IDENTIFIERS,
} from '../../../catalog/identity/tax-identifiers.ts';
import type { FieldConstraint, FieldError } from '../../../kernel/fault.ts';
import { PERSONAL_ID_TYPES } from './fields.ts';

export type Json = Record<string, unknown>;
export type Say = (field: string, message: string, constraint?: FieldConstraint) => void;

const NAME = /^[\p{L}\p{M}\p{N}'’.,-]+( [\p{L}\p{M}\p{N}'’.,-]+)*$/u;

const US_SHAPES = new Map<unknown, FieldConstraint & { pattern: string }>([
  ['SSN', { format: 'us-ssn', pattern: '^\\d{3}-\\d{2}-\\d{4}$' }],
  ['ITIN', { pattern: '^9\\d{2}-\\d{2}-\\d{4}$' }],
  ['EIN', { pattern: '^\\d{2}-\\d{7}$' }],
]);

/** Starts with a letter or digit, so that a masked number from a reply is rejected. */
const NATIONAL_TEXT = /^(?=.{1,64}$)[\p{L}\p{N}][\p{L}\p{N} .,'’&()/_-]*$/u;

/** An EIN, or the number of a sole proprietor. */
const US_TAX_ID = '^(\\d{2}-\\d{7}|\\d{3}-\\d{2}-\\d{4})$';

const COUNTRY: FieldConstraint = { format: 'iso3166-1-alpha-2' };

const US_ONLY: FieldConstraint = { enum: ['US'] };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const inside = (value: unknown, name: string): Json => {
  const inner = isObject(value) ? value[name] : undefined;
  return isObject(inner) ? inner : {};
};

export const isThere = (value: unknown) => value !== undefined && value !== null;

export function countryRule(say: Say, of: Json, prefix: string, names: readonly string[]): void {
  for (const name of names) {
    const codes = [of[name]].flat();
    const unknown = codes.filter((code) => typeof code === 'string' && !isCountry(code));
    if (unknown.length) say(prefix + name, `${unknown.join(', ')} is not a country`, COUNTRY);
  }
}

const ADDRESS_TEXTS = ['line1', 'line2', 'city', 'state', 'postalCode'] as const;
const MOST_OF_ADDRESS = 255;

/** An address in a country there is, of a length that fits on paper. */
export function addressRule(say: Say, of: Json, prefix = ''): void {
  const address = inside(of, 'address');
  countryRule(say, address, `${prefix}address.`, ['country']);
  for (const name of ADDRESS_TEXTS) {
    const value = address[name];
    if (typeof value !== 'string' || value.length <= MOST_OF_ADDRESS) continue;
    const message = `must not be longer than ${MOST_OF_ADDRESS}`;
    say(`${prefix}address.${name}`, message, { maxLength: MOST_OF_ADDRESS });
  }
}

export function nameRule(say: Say, of: Json, prefix: string, names: readonly string[]): void {
  for (const name of names) {
    const value = of[name];
    if (typeof value === 'string' && value !== '' && !NAME.test(value)) {
      const message = "may hold letters, digits, single spaces and ' - . , only";
      say(prefix + name, message, { pattern: NAME.source });
    }
  }
}

const OTHERS = [
  ['sourceOfFundsCategories', 'sourceOfFundsOtherDescription'],
  ['sourceOfWealthCategories', 'sourceOfWealthOtherDescription'],
  ['purposeOfAccount', 'purposeOfAccountOtherDescription'],
] as const;

function otherRule(say: Say, of: Json, prefix: string): void {
  for (const [choice, description] of OTHERS) {
    const text = of[description];
    const isSaid = typeof text === 'string' && text.trim() !== '';
    if ([of[choice]].flat().includes('OTHER') && !isSaid) {
      say(prefix + description, `is required when ${choice} is OTHER`, { minLength: 1 });
    }
  }
}

/** The number of a country other than the United States, by the shape that its country publishes. */
function nationalRule(say: Say, of: Json, at: string): void {
  const { identifier, countryOfIssuance: issuer } = of;
  if (hasUsNumbers(issuer)) {
    say(`${at}countryOfIssuance`, 'must not be the US or a US territory with NON_US_TAX_ID');
    return;
  }
  const country = typeof issuer === 'string' ? issuer : '';
  if (typeof identifier !== 'string') return;
  if (NATIONAL_TEXT.test(identifier) && isTaxIdentifier(country, identifier)) return;
  const row = TAX_IDENTIFIERS.get(country);
  const example = row?.example ? `, such as ${row.example}` : '';
  const message = row
    ? `is not a well-formed ${row.name} of ${countryName(country)}${example}`
    : 'is not a well-formed NON_US_TAX_ID';
  say(`${at}identifier`, message, row ? { pattern: row.pattern } : undefined);
}

/** Judges an identity number by its type and issuer; what is absent is not judged. */
export function identifierRule(say: Say, of: Json, at = ''): void {
  const { idType, identifier, countryOfIssuance: issuer } = of;
  if (idType === 'NON_US_TAX_ID') nationalRule(say, of, at);
  const shape = US_SHAPES.get(idType);
  if (!shape) return;
  if (typeof issuer === 'string' && issuer !== 'US') {
    say(`${at}countryOfIssuance`, 'must be US', US_ONLY);
  }
  if (typeof identifier === 'string' && !new RegExp(shape.pattern).test(identifier)) {
    say(`${at}identifier`, `is not a well-formed ${idType}`, shape);
  }
}

/** What the identity number of a whole person must come with. */
export function pairRule(say: Say, of: Json, at = ''): void {
  const { idType, identifier, countryOfIssuance: issuer } = of;
  if (isThere(idType) && !isThere(identifier)) say(`${at}identifier`, 'is required with idType');
  if (isThere(identifier) && !isThere(idType)) say(`${at}idType`, 'is required with identifier');
  if (idType === 'NON_US_TAX_ID' && !isThere(issuer)) {
    say(`${at}countryOfIssuance`, 'is required with NON_US_TAX_ID');
  }
}

/** Judges the check digits of an identity number. Sandbox numbers are made up, so it runs in production. */
export function checkDigitErrors(
  of: { idType?: unknown; identifier?: unknown; countryOfIssuance?: unknown },
  at = '',
): FieldError[] {
  const { idType, identifier, countryOfIssuance: issuer } = of;
  if (idType !== 'NON_US_TAX_ID' || typeof identifier !== 'string') return [];
  if (typeof issuer !== 'string' || holdsCheckDigits(issuer, identifier)) return [];
  return [{ field: `${at}identifier`, message: 'has check digits that do not match the rest' }];
}

/** The types that individuals are identified by. */
function typeRule(say: Say, { idType }: Json): void {
  if (typeof idType !== 'string' || PERSONAL_ID_TYPES.some((each) => each === idType)) return;
  const message = `must be ${PERSONAL_ID_TYPES.join(', ')} for an individual`;
  say('idType', message, { enum: [...PERSONAL_ID_TYPES] });
}

function taxRule(say: Say, firm: Json): void {
  const { country, taxId } = firm;
  if (typeof taxId !== 'string') return;
  const isFine = country === 'US' ? new RegExp(US_TAX_ID).test(taxId) : taxId.trim() !== '';
  if (isFine) return;
  const constraint = country === 'US' ? { pattern: US_TAX_ID } : { minLength: 1 };
  say('businessInfo.taxId', 'is not a tax number of the country of registration', constraint);
}

function blankRule(say: Say, firm: Json): void {
  const { legalName } = firm;
  if (typeof legalName === 'string' && legalName.trim() === '') {
    say('businessInfo.legalName', 'must not be blank', { minLength: 1 });
  }
}

/** What each field says by itself. */
function ownRules(say: Say, body: Json): void {
  addressRule(say, body);
  if (body.customerType === 'BUSINESS') {
    const firm = inside(body, 'businessInfo');
    countryRule(say, firm, 'businessInfo.', [
      'country',
      'countriesOfOperation',
      'expectedRecipientJurisdictions',
      'expectedCounterpartyCountries',
    ]);
    nameRule(say, firm, 'businessInfo.', ['primaryContactFirstName', 'primaryContactLastName']);
    blankRule(say, firm);
    return;
  }
  countryRule(say, body, '', ['nationality', 'countryOfIssuance']);
  nameRule(say, body, '', ['fullName']);
  typeRule(say, body);
  if (body.idType !== 'EIN') identifierRule(say, body);
}

/** What only the whole customer can satisfy. */
function wholeRules(say: Say, body: Json): void {
  if (body.customerType === 'BUSINESS') {
    const firm = inside(body, 'businessInfo');
    otherRule(say, firm, 'businessInfo.');
    taxRule(say, firm);
    return;
  }
  otherRule(say, body, '');
  pairRule(say, body);
}

/** What `rules` say of a body; nothing of what is no object. */
export function collect(
  body: unknown,
  rules: readonly ((say: Say, body: Json) => void)[],
): FieldError[] {
  const errors: FieldError[] = [];
  if (!isObject(body)) return errors;
  const say: Say = (field, message, constraint) =>
    void errors.push({ field, ...(constraint ? { constraint } : {}), message });
  for (const rule of rules) rule(say, body);
  return errors;
}

/** Everything wrong with a customer, as a request describes it or as a change would leave it. */
export const customerErrors = (customer: unknown): FieldError[] =>
  collect(customer, [ownRules, wholeRules]);

function oneContactRule(say: Say, body: Json): void {
  if (body.email === undefined || body.phoneNumber === undefined) return;
  for (const field of ['email', 'phoneNumber']) {
    say(field, 'email and phoneNumber cannot be changed by one request');
  }
}

/** Everything wrong with a change that can be told without knowing whom it changes. */
export const updateErrors = (change: unknown): FieldError[] =>
  collect(change, [ownRules, oneContactRule]);
