// Requirements of currencies: customer data that a currency requires, and regions in which it is
// not offered. The requirements are data, because they change with providers and law.
import type { CounterpartyFieldName } from '../accounts/field-names.ts';
import { COUNTRY_CODES, scaRegion } from '../identity/countries.ts';
import { type Currency, findCurrency } from './currencies.ts';

/** Currencies whose domestic payment systems reject a payment without the name of the sender. */
const CURRENCIES_REQUIRING_NAME: readonly string[] = ['BDT', 'INR', 'KES', 'NGN', 'PHP', 'PKR'];

const REQUIRED_FIELDS = new Map<string, readonly CounterpartyFieldName[]>([
  ...CURRENCIES_REQUIRING_NAME.map((code): [string, CounterpartyFieldName[]] => [
    code,
    ['FULL_NAME'],
  ]),
  // Inward remittance in China is matched by name and citizenship.
  ['CNY', ['FULL_NAME', 'NATIONALITY']],
  // Korean banks match real name and birth date.
  ['KRW', ['FULL_NAME', 'BIRTH_DATE']],
]);

/** Fields that a customer must have before it can use the currency. */
export const providerRequiredCustomerFields = (
  currency: string,
): readonly CounterpartyFieldName[] => REQUIRED_FIELDS.get(currency) ?? [];

/** A region is a country, or EU. */
export const isRegion = (code: string): boolean => code === 'EU' || COUNTRY_CODES.includes(code);

/** Whether strong customer authentication is required for customers of this region. */
export const requiresSca = (region: string): boolean => region === 'EU' || scaRegion.has(region);

interface Restriction {
  regions: (region: string) => boolean;
  currencies: (currency: Currency) => boolean;
}

const RESTRICTIONS: readonly Restriction[] = [
  // MiCA: no issuer of USDT is authorized.
  { regions: requiresSca, currencies: ({ code }) => code === 'USDT' },
  // Trading of digital assets is prohibited.
  { regions: (region) => region === 'CN', currencies: ({ kind }) => kind === 'crypto' },
  // Comprehensive sanctions.
  { regions: (region) => ['CU', 'IR', 'KP'].includes(region), currencies: () => true },
];

/** Whether a currency is offered to customers of a region. False for an unknown currency. */
export function isOfferedIn(region: string, currency: string): boolean {
  const details = findCurrency(currency);
  if (!details) return false;
  return !RESTRICTIONS.some(
    (restriction) => restriction.regions(region) && restriction.currencies(details),
  );
}

/** All regions in which a currency is offered. */
export const regionsOf = (currency: string): string[] =>
  ['EU', ...COUNTRY_CODES].filter((region) => isOfferedIn(region, currency));
