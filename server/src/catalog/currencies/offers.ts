// Requirements of currencies: customer data that a currency requires, and regions in which it is not offered.
// Both are data, because they change with providers and law, and both are checked before a payment fails.

import type { CounterpartyFieldName } from '../accounts/field-names.ts';
import { COUNTRY_CODES, scaRegion } from '../identity/countries.ts';
import { type CurrencyFact, findCurrency } from './currencies.ts';

// Domestic systems that reject payments without the sender's name. Others require nothing.
const NAME_FIRST: readonly string[] = ['BDT', 'INR', 'KES', 'NGN', 'PHP', 'PKR'];

const NEEDED = new Map<string, readonly CounterpartyFieldName[]>([
  ...NAME_FIRST.map((code): [string, CounterpartyFieldName[]] => [code, ['FULL_NAME']]),
  // Inward remittance in China is matched by name and citizenship.
  ['CNY', ['FULL_NAME', 'NATIONALITY']],
  // Korean banks match real name and birth date.
  ['KRW', ['FULL_NAME', 'BIRTH_DATE']],
]);

/** Customer data required before a platform's own customer can use the currency. */
export const providerRequiredCustomerFields = (
  currency: string,
): readonly CounterpartyFieldName[] => NEEDED.get(currency) ?? [];

/** A region is a country, or EU for all its members. */
export const isRegion = (code: string): boolean => code === 'EU' || COUNTRY_CODES.includes(code);

/** Whether customers of this region or country need verified contacts and strong authentication. */
export const needsScaIn = (region: string): boolean => region === 'EU' || scaRegion.has(region);

interface Gap {
  regions: (region: string) => boolean;
  currencies: (currency: CurrencyFact) => boolean;
}

const GAPS: readonly Gap[] = [
  // No issuer of USDT is authorised under the European regulation of crypto-assets.
  { regions: needsScaIn, currencies: ({ code }) => code === 'USDT' },
  // Trading digital assets is prohibited.
  { regions: (region) => region === 'CN', currencies: ({ kind }) => kind === 'crypto' },
  // Comprehensive sanctions: no service.
  { regions: (region) => ['CU', 'IR', 'KP'].includes(region), currencies: () => true },
];

/** Whether a currency is offered to customers of a region. Unknown currencies are not. */
export function isOfferedIn(region: string, currency: string): boolean {
  const fact = findCurrency(currency);
  if (!fact) return false;
  return !GAPS.some((gap) => gap.regions(region) && gap.currencies(fact));
}

/** All regions in which a currency is offered. */
export const regionsOffering = (currency: string): string[] =>
  ['EU', ...COUNTRY_CODES].filter((region) => isOfferedIn(region, currency));
