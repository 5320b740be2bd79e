// What people read in place of the words that programs use: names of papers, of choices and of countries.
import { COUNTRY_CODES, countryName as nameOf } from '../../../catalog/countries.ts';

const SAID: Record<string, string> = {
  LLC: 'LLC',
  S_CORPORATION: 'S corporation',
  NON_PROFIT: 'Non-profit',
  SSN: 'Social Security number (SSN)',
  ITIN: 'Individual Taxpayer Identification Number (ITIN)',
  EIN: 'Employer Identification Number (EIN)',
  NON_US_TAX_ID: 'Tax number of another country',
  DRIVERS_LICENSE: 'Driver’s licence',
  NATIONAL_ID: 'National identity card',
  UBO: 'Owns a part of the business',
  CONTROL_PERSON: 'Controls the business',
  COMPANY_OFFICER: 'Officer',
  P2P_TRANSFERS: 'Transfers between persons',
  CROSS_BORDER_B2B: 'Payments between businesses across borders',
  AR_AUTOMATION: 'Collecting from customers automatically',
  AP_AUTOMATION: 'Paying suppliers automatically',
  HIO: 'Holds office in an international organisation',
  'pepStatus.NONE': 'I hold no public office',
  'pepStatus.DOMESTIC': 'Holds public office in the country of residence',
  'pepStatus.FOREIGN': 'Holds public office in another country',
  FAMILY_OR_ASSOCIATE: 'Family or close associate of somebody who does',
  FRONT: 'Front',
  BACK: 'Back',
};

const UNIT: Record<string, (amount: string) => string> = {
  COUNT: (amount) => amount,
  VOLUME: (amount) => `$${amount}`,
  RANGE: (amount) => `$${amount}`,
};

const amountOf = (text: string): string =>
  text.endsWith('K') ? `${text.slice(0, -1)},000` : text.replace(/M$/, ' million');

/** `VOLUME_10K_TO_100K` as `$10,000 to $100,000`; undefined for what is no range. */
function rangeOf(value: string): string | undefined {
  const match = /^(COUNT|VOLUME|RANGE)?_?(UNDER_|OVER_)?(\d+[KM]?)(?:(?:_TO)?_(\d+[KM]?))?$/.exec(
    value,
  );
  if (!match) return undefined;
  const [, unit, bound, from = '', to] = match;
  const say = UNIT[unit ?? 'RANGE'] as (amount: string) => string;
  if (bound) return `${bound === 'UNDER_' ? 'Under' : 'Over'} ${say(amountOf(from))}`;
  return to ? `${say(amountOf(from))} to ${say(amountOf(to))}` : undefined;
}

/** A choice of `field` in words. */
export function wordsFor(value: string, field = ''): string {
  const known = SAID[`${field}.${value}`] ?? SAID[value] ?? rangeOf(value);
  if (known) return known;
  const words = value.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const COUNTRIES: readonly { code: string; name: string }[] = COUNTRY_CODES.map((code) => ({
  code,
  name: nameOf(code) ?? code,
})).sort((a, b) => a.name.localeCompare(b.name));

export const countryName = (code: string): string => nameOf(code) ?? code;

/** `2026-01-05` as `5 January 2026`. */
export function dayInWords(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

export const bytesInWords = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** A limit, rounded down so that what is promised is taken. */
export const limitInWords = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`;

const NEEDS: Record<string, string> = {
  MISSING_IDENTITY_DOCUMENT: 'Proof of identity',
  MISSING_LEGAL_PRESENCE_DOCUMENT: 'Proof that the business exists',
  MISSING_CONTROL_STRUCTURE_DOCUMENT: 'Proof of who controls the business',
  MISSING_OWNERSHIP_STRUCTURE_DOCUMENT: 'Proof of who owns the business',
  MISSING_PROOF_OF_ADDRESS_DOCUMENT: 'Proof of address',
  MISSING_GOOD_STANDING_DOCUMENT: 'Proof of good standing',
};

/** What a missing paper is to prove. */
export const needInWords = (type: string): string => NEEDS[type] ?? 'A document';
