// Labels of documents, enumerated values and countries, and formats of dates and sizes.
import { COUNTRY_CODES, countryName as nameOf } from '../../../../catalog/identity/countries.ts';

const LABELS: Record<string, string> = {
  LLC: 'LLC',
  S_CORPORATION: 'S corporation',
  NON_PROFIT: 'Non-profit',
  SSN: 'Social Security number (SSN)',
  ITIN: 'Individual Taxpayer Identification Number (ITIN)',
  EIN: 'Employer Identification Number (EIN)',
  NON_US_TAX_ID: 'Tax identification number of another country',
  DRIVERS_LICENSE: 'Driver’s license',
  NATIONAL_ID: 'National identity card',
  UBO: 'Beneficial owner',
  CONTROL_PERSON: 'Control person',
  COMPANY_OFFICER: 'Officer of the business',
  P2P_TRANSFERS: 'Transfers between people',
  CROSS_BORDER_B2B: 'Payments to businesses in other countries',
  AR_AUTOMATION: 'Automated collection from customers',
  AP_AUTOMATION: 'Automated payments to suppliers',
  HIO: 'Yes, in an international organization',
  'pepStatus.NONE': 'No',
  'pepStatus.DOMESTIC': 'Yes, in the country where I live',
  'pepStatus.FOREIGN': 'Yes, in another country',
  FAMILY_OR_ASSOCIATE: 'No, but a family member or close associate does',
  FRONT: 'Front',
  BACK: 'Back',
};

const UNIT_FORMATS: Record<string, (amount: string) => string> = {
  COUNT: (amount) => amount,
  VOLUME: (amount) => `US$${amount}`,
  RANGE: (amount) => `US$${amount}`,
};

const amountOf = (text: string): string =>
  text.endsWith('K') ? `${text.slice(0, -1)},000` : text.replace(/M$/, ' million');

/** `VOLUME_10K_TO_100K` as `US$10,000 to US$100,000`, or undefined if the value is not a range. */
function rangeOf(value: string): string | undefined {
  const match = /^(COUNT|VOLUME|RANGE)?_?(UNDER_|OVER_)?(\d+[KM]?)(?:(?:_TO)?_(\d+[KM]?))?$/.exec(
    value,
  );
  if (!match) return undefined;
  const [, unit, comparison, from = '', to] = match;
  const format = UNIT_FORMATS[unit ?? 'RANGE'] as (amount: string) => string;
  if (comparison) return `${comparison === 'UNDER_' ? 'Under' : 'Over'} ${format(amountOf(from))}`;
  return to ? `${format(amountOf(from))} to ${format(amountOf(to))}` : undefined;
}

/** Label of a value of `field`. */
export function labelFor(value: string, field = ''): string {
  const label = LABELS[`${field}.${value}`] ?? LABELS[value] ?? rangeOf(value);
  if (label) return label;
  const text = value.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const COUNTRIES: readonly { code: string; name: string }[] = COUNTRY_CODES.map((code) => ({
  code,
  name: nameOf(code) ?? code,
})).sort((a, b) => a.name.localeCompare(b.name));

export const countryName = (code: string): string => nameOf(code) ?? code;

/** `2026-01-05` as `5 January 2026`. */
export function formatDate(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return date.toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

/** `2026-01-05T10:00:00Z` as `5 January 2026 at 10:00 UTC`, in the time zone of the browser. */
export const formatTime = (moment: string): string =>
  new Date(moment).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });

export const formatBytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

/** A limit, rounded down so that every file up to the displayed limit is accepted. */
export const formatLimit = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`;

const REQUIREMENT_TITLES: Record<string, string> = {
  MISSING_IDENTITY_DOCUMENT: 'Proof of identity',
  MISSING_LEGAL_PRESENCE_DOCUMENT: 'Proof that the business exists',
  MISSING_CONTROL_STRUCTURE_DOCUMENT: 'Proof of who controls the business',
  MISSING_OWNERSHIP_STRUCTURE_DOCUMENT: 'Proof of who owns the business',
  MISSING_PROOF_OF_ADDRESS_DOCUMENT: 'Proof of address',
  MISSING_GOOD_STANDING_DOCUMENT: 'Proof of good standing',
};

/** Title of a required proof. */
export const requirementTitle = (type: string): string => REQUIREMENT_TITLES[type] ?? 'A document';
