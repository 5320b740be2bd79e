// Every field that the page can ask for, in the words of the page and under the name that the API has for
// it. What a field takes is judged by the server; here is only how it is asked.
import { neededIdentifier, TAX_IDENTIFIERS } from '../../../catalog/tax-identifiers.ts';
import type { Json } from './types.ts';

export type Kind =
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
  /** Asked only while the named field has one of these values. */
  when?: { field: string; is: readonly string[] };
  /** What other answers change about this field; `read` gives an answer by the name of its field. */
  follow?: (read: (name: string) => unknown) => Followed;
}

export interface Followed {
  hint?: string;
  optional?: boolean;
  hidden?: boolean;
  /** Of a choice: those that are offered. */
  values?: readonly string[];
}

const OTHER = 'Please describe it in your own words';

/** `isOwn`: the address of whoever sits before the page, which their browser may know. */
export const addressFields = (prefix: string, isOwn = false): Field[] => {
  const neededInUs: Field['follow'] = (read) => ({
    optional: read(`${prefix}address.country`) !== 'US',
  });
  const field = (name: string, label: string, autocomplete: string, more = {}): Field => ({
    name: `${prefix}address.${name}`,
    label,
    kind: 'text',
    ...(isOwn ? { autocomplete } : {}),
    ...more,
  });
  return [
    field('country', 'Country', 'country', { kind: 'country' }),
    field('line1', 'Street and number', 'address-line1'),
    field('line2', 'Flat, floor or building', 'address-line2', { optional: true }),
    field('city', 'City or town', 'address-level2', { optional: true, follow: neededInUs }),
    field('state', 'State, province or region', 'address-level1', {
      optional: true,
      follow: neededInUs,
    }),
    field('postalCode', 'Postal code', 'postal-code'),
  ];
};

const described = (name: string, of: string, prefix = ''): Field => ({
  name: `${prefix}${name}`,
  label: OTHER,
  kind: 'longtext',
  when: { field: `${prefix}${of}`, is: ['OTHER'] },
});

const purposes = (prefix: string): Field[] => [
  { name: `${prefix}purposeOfAccount`, label: 'What is the account mainly for?', kind: 'choice' },
  described('purposeOfAccountOtherDescription', 'purposeOfAccount', prefix),
  {
    name: `${prefix}expectedMonthlyTransactionCount`,
    label: 'How many payments do you expect in a month?',
    kind: 'choice',
  },
  {
    name: `${prefix}expectedMonthlyTransactionVolume`,
    label: 'How much do you expect to pay in a month?',
    kind: 'choice',
  },
];

export const personFields: Field[] = [
  {
    name: 'fullName',
    label: 'Full name',
    kind: 'text',
    hint: 'Given and family names, as on your identity document.',
    autocomplete: 'name',
  },
  { name: 'birthDate', label: 'Date of birth', kind: 'date', autocomplete: 'bday' },
  { name: 'nationality', label: 'Nationality', kind: 'country', hint: 'Country of your passport.' },
];

const HINTS: Readonly<Record<string, string>> = {
  SSN: 'With its hyphens, like 123-45-6789.',
  ITIN: 'With its hyphens, like 912-34-5678.',
  EIN: 'With its hyphen, like 12-3456789.',
};

function numberHint(type: unknown, issuer: unknown): string {
  if (type !== 'NON_US_TAX_ID') return HINTS[String(type)] ?? '';
  const { name, example } = TAX_IDENTIFIERS.get(String(issuer)) ?? {};
  return example ? `${name}, like ${example}.` : 'As it is written on your documents.';
}

/** The questions about an identity number: the country of residence and the nationality decide. */
function numberFieldsOf(prefix: string, usTypes: readonly string[]): Field[] {
  const neededOf = (read: (name: string) => unknown) =>
    neededIdentifier({
      nationality: read(`${prefix}nationality`),
      residence: read(`${prefix}address.country`),
    });
  return [
    {
      name: `${prefix}idType`,
      label: 'Kind of number',
      kind: 'choice',
      follow: (read) => {
        const needed = neededOf(read);
        const types = needed === 'US' ? usTypes : ['NON_US_TAX_ID', ...usTypes];
        return { values: types, optional: needed === 'NONE' };
      },
    },
    {
      name: `${prefix}countryOfIssuance`,
      label: 'Country that issued the number',
      kind: 'country',
      when: { field: `${prefix}idType`, is: ['NON_US_TAX_ID'] },
    },
    {
      name: `${prefix}identifier`,
      label: 'Number',
      kind: 'text',
      autocomplete: 'off',
      follow: (read) => ({
        hint: numberHint(read(`${prefix}idType`), read(`${prefix}countryOfIssuance`)),
        hidden: neededOf(read) === 'NONE' && !read(`${prefix}idType`),
      }),
    },
  ];
}

export const numberFields: Field[] = numberFieldsOf('', ['SSN', 'ITIN']);

export const diligenceFields: Field[] = [
  ...purposes(''),
  { name: 'sourceOfFundsCategories', label: 'Where does the money come from?', kind: 'choices' },
  described('sourceOfFundsOtherDescription', 'sourceOfFundsCategories'),
  { name: 'sourceOfWealthCategories', label: 'How did you build your wealth?', kind: 'choices' },
  described('sourceOfWealthOtherDescription', 'sourceOfWealthCategories'),
  { name: 'annualIncomeRange', label: 'What is your income in a year?', kind: 'choice' },
  { name: 'netWorthRange', label: 'What do you own, less what you owe?', kind: 'choice' },
  { name: 'pepStatus', label: 'Do you hold a prominent public office?', kind: 'choice' },
];

const firm = (name: string, label: string, kind: Kind, more: Partial<Field> = {}): Field => ({
  name: `businessInfo.${name}`,
  label,
  kind,
  ...more,
});

export const firmFields: Field[] = [
  firm('legalName', 'Legal name', 'text', { autocomplete: 'organization' }),
  firm('doingBusinessAs', 'Name it trades under', 'text', { optional: true }),
  firm('country', 'Country of registration', 'country'),
  firm('taxId', 'Tax number', 'text', { hint: 'For the US an EIN with its hyphen: 12-3456789.' }),
  firm('incorporatedOn', 'Founded on', 'date'),
  firm('registrationNumber', 'Number in the register', 'text'),
  firm('entityType', 'Legal form', 'choice'),
  firm('businessType', 'Sector', 'choice'),
  firm('naicsCode', 'NAICS code', 'text', { hint: 'Two to six digits.', numeric: true }),
  firm('primaryContactFirstName', 'Given name of the person to ask', 'text'),
  firm('primaryContactLastName', 'Family name of the person to ask', 'text'),
];

export const activityFields: Field[] = [
  firm('countriesOfOperation', 'Where is the business active?', 'countries'),
  firm('expectedRecipientJurisdictions', 'Where will its payments go?', 'countries'),
  firm('expectedCounterpartyCountries', 'Where are those it deals with?', 'countries'),
  firm('sourceOfFunds', 'Where does its money come from?', 'longtext'),
  firm('sourceOfFundsCategories', 'Which of these does its money come from?', 'choices'),
  described('sourceOfFundsOtherDescription', 'sourceOfFundsCategories', 'businessInfo.'),
  ...purposes('businessInfo.'),
];

const own = (name: string, label: string, kind: Kind, more: Partial<Field> = {}): Field => ({
  name: `personalInfo.${name}`,
  label,
  kind,
  ...more,
});

export const ownerFields: Field[] = [
  { name: 'roles', label: 'What the person is to the business', kind: 'choices' },
  {
    name: 'ownershipPercentage',
    label: 'Share of the business, in percent',
    kind: 'percent',
    hint: 'A whole number; 0 for somebody who owns nothing.',
  },
  own('firstName', 'Given name', 'text'),
  own('middleName', 'Middle name', 'text', { optional: true }),
  own('lastName', 'Family name', 'text'),
  own('birthDate', 'Date of birth', 'date'),
  own('nationality', 'Nationality', 'country'),
  own('email', 'E-mail address', 'email', { optional: true }),
  own('phoneNumber', 'Telephone number', 'tel', {
    optional: true,
    hint: 'With the code of the country, like +15550100200.',
  }),
  ...addressFields('personalInfo.'),
  ...numberFieldsOf('personalInfo.', ['SSN', 'ITIN', 'EIN']),
];

/** The value at a dot path; undefined where there is none. */
export const valueAt = (of: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], of);

/** Sets the value at a dot path, making what is on the way. */
export function setAt(of: Json, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let at = of;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Json;
  }
  at[last] = value;
}
