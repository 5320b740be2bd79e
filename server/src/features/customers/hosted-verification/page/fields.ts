// Fields that the page can request, with their texts and API names. The server validates the
// values.
import { withoutPostalCodes } from '../../../../catalog/identity/countries.ts';
import {
  requiredTaxIdentifier,
  TAX_IDENTIFIERS,
} from '../../../../catalog/identity/tax-identifiers.ts';
import type { Json } from './json.ts';

type Kind =
  | 'text'
  | 'longtext'
  | 'date'
  | 'email'
  | 'tel'
  | 'percent'
  | 'choice'
  | 'choices'
  | 'country'
  | 'countries'
  | 'file';

export interface Field {
  /** Dot path in the request. */
  name: string;
  label: string;
  kind: Kind;
  hint?: string;
  autocomplete?: string;
  numeric?: boolean;
  optional?: boolean;
  /** Noun for messages if the label does not fit: `Enter ${noun}`. */
  noun?: string;
  /** Shown only while the named field has one of these values. */
  condition?: { field: string; is: readonly string[] };
  /** Properties that depend on other answers. `read` returns an answer by field name. */
  derive?: (read: (name: string) => unknown) => DerivedField;
}

export interface DerivedField {
  hint?: string;
  optional?: boolean;
  isHidden?: boolean;
  /** Available options of a choice. */
  values?: readonly string[];
}

const DESCRIPTION_LABEL = 'Description';

/** `isOwn`: the person who uses the page lives at the address, so the browser can fill it in. */
export const addressFields = (prefix: string, isOwn = false): Field[] => {
  const deriveOptionalOutsideUs: Field['derive'] = (read) => ({
    optional: read(`${prefix}address.country`) !== 'US',
  });
  // The API requires a postal code for every country and accepts any text.
  const postalCodeHint: Field['derive'] = (read) =>
    withoutPostalCodes.has(String(read(`${prefix}address.country`)))
      ? { hint: 'This country has no postal codes. Enter 00000.' }
      : {};
  const createField = (
    name: string,
    label: string,
    autocomplete: string,
    overrides: Partial<Field> = {},
  ): Field => ({
    name: `${prefix}address.${name}`,
    label,
    kind: 'text',
    ...(isOwn ? { autocomplete } : {}),
    ...overrides,
  });
  return [
    createField('country', 'Country', 'country', { kind: 'country' }),
    createField('line1', 'Street and number', 'address-line1'),
    createField('line2', 'Apartment, floor or building', 'address-line2', { optional: true }),
    createField('city', 'City or town', 'address-level2', {
      optional: true,
      derive: deriveOptionalOutsideUs,
    }),
    createField('state', 'State, province or region', 'address-level1', {
      optional: true,
      derive: deriveOptionalOutsideUs,
    }),
    createField('postalCode', 'Postal code', 'postal-code', { derive: postalCodeHint }),
  ];
};

const descriptionField = (name: string, choiceField: string, prefix = ''): Field => ({
  name: `${prefix}${name}`,
  label: DESCRIPTION_LABEL,
  kind: 'longtext',
  hint: 'In your own words.',
  noun: 'a description',
  condition: { field: `${prefix}${choiceField}`, is: ['OTHER'] },
});

const purposeFields = (prefix: string): Field[] => [
  {
    name: `${prefix}purposeOfAccount`,
    label: 'What is the main purpose of the account?',
    kind: 'choice',
    noun: 'the main purpose of the account',
  },
  descriptionField('purposeOfAccountOtherDescription', 'purposeOfAccount', prefix),
  {
    name: `${prefix}expectedMonthlyTransactionCount`,
    label: 'How many payments do you expect each month?',
    kind: 'choice',
    noun: 'the number of payments each month',
  },
  {
    name: `${prefix}expectedMonthlyTransactionVolume`,
    label: 'How much do you expect to pay each month?',
    kind: 'choice',
    noun: 'the amount that you expect to pay each month',
  },
];

export const personFields: Field[] = [
  {
    name: 'fullName',
    label: 'Full name',
    kind: 'text',
    hint: 'Given and family names, as on your identity document.',
    noun: 'your full name',
    autocomplete: 'name',
  },
  {
    name: 'birthDate',
    label: 'Date of birth',
    kind: 'date',
    autocomplete: 'bday',
    noun: 'your date of birth',
  },
  {
    name: 'nationality',
    label: 'Nationality',
    kind: 'country',
    hint: 'The country that issued your passport.',
    noun: 'your nationality',
  },
];

const IDENTIFIER_HINTS: Readonly<Record<string, string>> = {
  SSN: 'Include the hyphens, for example 123-45-6789.',
  ITIN: 'Include the hyphens, for example 912-34-5678.',
  EIN: 'Include the hyphen, for example 12-3456789.',
};

function identifierHint(type: unknown, issuer: unknown): string {
  if (type !== 'NON_US_TAX_ID') return IDENTIFIER_HINTS[String(type)] ?? '';
  const { name, example } = TAX_IDENTIFIERS.get(String(issuer)) ?? {};
  return example ? `${name}, for example ${example}.` : 'As it is written on your documents.';
}

/** Fields of an identity number. They depend on the country of residence and the nationality. */
function identifierFieldsOf(prefix: string, usTypes: readonly string[]): Field[] {
  const requirementOf = (read: (name: string) => unknown) =>
    requiredTaxIdentifier({
      nationality: read(`${prefix}nationality`),
      residence: read(`${prefix}address.country`),
    });
  return [
    {
      name: `${prefix}idType`,
      label: 'Type of number',
      kind: 'choice',
      derive: (read) => {
        const requirement = requirementOf(read);
        const types = requirement === 'US' ? usTypes : ['NON_US_TAX_ID', ...usTypes];
        return { values: types, optional: requirement === 'NONE' };
      },
    },
    {
      name: `${prefix}countryOfIssuance`,
      label: 'Country that issued the number',
      kind: 'country',
      condition: { field: `${prefix}idType`, is: ['NON_US_TAX_ID'] },
    },
    {
      name: `${prefix}identifier`,
      label: 'Number',
      kind: 'text',
      autocomplete: 'off',
      derive: (read) => ({
        hint: identifierHint(read(`${prefix}idType`), read(`${prefix}countryOfIssuance`)),
        isHidden: requirementOf(read) === 'NONE' && !read(`${prefix}idType`),
      }),
    },
  ];
}

export const identifierFields: Field[] = identifierFieldsOf('', ['SSN', 'ITIN']);

export const diligenceFields: Field[] = [
  ...purposeFields(''),
  {
    name: 'sourceOfFundsCategories',
    label: 'Where does the money come from?',
    kind: 'choices',
    noun: 'at least one source of the money',
  },
  descriptionField('sourceOfFundsOtherDescription', 'sourceOfFundsCategories'),
  {
    name: 'sourceOfWealthCategories',
    label: 'What are the sources of your wealth?',
    kind: 'choices',
    noun: 'at least one source of your wealth',
  },
  descriptionField('sourceOfWealthOtherDescription', 'sourceOfWealthCategories'),
  {
    name: 'annualIncomeRange',
    label: 'What is your yearly income?',
    kind: 'choice',
    noun: 'your yearly income',
  },
  {
    name: 'netWorthRange',
    label: 'What is your net worth?',
    kind: 'choice',
    hint: 'Your assets minus your debts.',
    noun: 'your net worth',
  },
  {
    name: 'pepStatus',
    label: 'Do you hold a prominent public office?',
    kind: 'choice',
    hint: 'For example in a government, a parliament, a court or an army.',
    noun: 'whether you hold a public office',
  },
];

const createBusinessField = (
  name: string,
  label: string,
  kind: Kind,
  overrides: Partial<Field> = {},
): Field => ({
  name: `businessInfo.${name}`,
  label,
  kind,
  ...overrides,
});

export const businessFields: Field[] = [
  createBusinessField('legalName', 'Legal name', 'text', { autocomplete: 'organization' }),
  createBusinessField('doingBusinessAs', 'Trading name', 'text', { optional: true }),
  createBusinessField('country', 'Country of registration', 'country'),
  createBusinessField('taxId', 'Tax identification number', 'text', {
    hint: 'In the United States, the EIN with its hyphen, for example 12-3456789.',
  }),
  createBusinessField('incorporatedOn', 'Date of incorporation', 'date'),
  createBusinessField('registrationNumber', 'Registration number', 'text'),
  createBusinessField('entityType', 'Legal form', 'choice'),
  createBusinessField('businessType', 'Sector', 'choice'),
  createBusinessField('naicsCode', 'NAICS code', 'text', {
    hint: 'Industry classification of the business: two to six digits.',
    numeric: true,
  }),
  createBusinessField('primaryContactFirstName', 'Given name of the contact person', 'text'),
  createBusinessField('primaryContactLastName', 'Family name of the contact person', 'text'),
];

export const activityFields: Field[] = [
  createBusinessField('countriesOfOperation', 'Where does the business operate?', 'countries', {
    noun: 'at least one country where the business operates',
  }),
  createBusinessField(
    'expectedRecipientJurisdictions',
    'Which countries does the business pay to?',
    'countries',
    {
      noun: 'at least one country that the business pays to',
    },
  ),
  createBusinessField(
    'expectedCounterpartyCountries',
    'Where are the customers and suppliers of the business?',
    'countries',
    {
      noun: 'at least one country of the customers and suppliers',
    },
  ),
  createBusinessField(
    'sourceOfFunds',
    'Where does the money of the business come from?',
    'longtext',
    {
      hint: 'For example sales, investments or loans.',
      noun: 'where the money of the business comes from',
    },
  ),
  createBusinessField('sourceOfFundsCategories', 'Sources of funds', 'choices', {
    hint: 'Select all that apply.',
    noun: 'at least one source of funds',
  }),
  descriptionField('sourceOfFundsOtherDescription', 'sourceOfFundsCategories', 'businessInfo.'),
  ...purposeFields('businessInfo.'),
];

const createPersonField = (
  name: string,
  label: string,
  kind: Kind,
  overrides: Partial<Field> = {},
): Field => ({
  name: `personalInfo.${name}`,
  label,
  kind,
  ...overrides,
});

export const ownerFields: Field[] = [
  {
    name: 'roles',
    label: 'Role in the business',
    kind: 'choices',
    hint: 'Select all that apply. A control person directs the business.',
    noun: 'at least one role',
  },
  {
    name: 'ownershipPercentage',
    label: 'Share of the business, in percent',
    kind: 'percent',
    hint: 'A whole number. Enter 0 if the person owns no share.',
  },
  createPersonField('firstName', 'Given name', 'text'),
  createPersonField('middleName', 'Middle name', 'text', { optional: true }),
  createPersonField('lastName', 'Family name', 'text'),
  createPersonField('birthDate', 'Date of birth', 'date'),
  createPersonField('nationality', 'Nationality', 'country'),
  createPersonField('email', 'E-mail address', 'email', { optional: true }),
  createPersonField('phoneNumber', 'Phone number', 'tel', {
    optional: true,
    hint: 'Include the country code, for example +15550100200.',
  }),
  ...addressFields('personalInfo.'),
  ...identifierFieldsOf('personalInfo.', ['SSN', 'ITIN', 'EIN']),
];

/** Value at a dot path, or undefined. */
export const valueAt = (source: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], source);

/** Sets the value at a dot path and creates intermediate objects. */
export function setAt(target: Json, path: string, value: unknown): void {
  const names = path.split('.');
  const lastName = names.pop() as string;
  let parent = target;
  for (const name of names) {
    parent[name] ??= {};
    parent = parent[name] as Json;
  }
  parent[lastName] = value;
}

const SELECTED_KINDS: readonly Kind[] = ['choice', 'choices', 'country', 'countries', 'file'];

/** Label within a sentence. Abbreviations keep their capitals. */
const lowerFirstLetter = (label: string) =>
  /^[A-Z]{2}/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);

/** Message for an empty field. */
export function emptyMessage({ label, kind, noun }: Field): string {
  const verb = SELECTED_KINDS.includes(kind) ? 'Select' : 'Enter';
  if (noun) return `${verb} ${noun}`;
  return label.endsWith('?')
    ? `Answer the question: ${label}`
    : `${verb} the ${lowerFirstLetter(label)}`;
}
