// Amounts: grouped for the locale of the browser, with the exact number of minor units in a hint.
import { CURRENCIES } from '../../../../server/src/catalog/currencies/currencies.ts';
import { TEXTS } from '../texts/texts.ts';
import { Hint } from './hint.tsx';

export interface Money {
  /** Minor units. A decimal text if they can exceed 2^53. */
  amount: number | string;
  currency: string;
}

const currencies = new Map(CURRENCIES.map((each) => [each.code, each]));

/** Digits after the decimal point, or undefined for a code that is not in the catalog. */
export const decimalsOf = (currency: string): number | undefined =>
  currencies.get(currency)?.decimals;

const ZERO = 0n;

/** The exact decimal text of minor units, without grouping. */
export function decimalText({ amount, currency }: Money): string {
  const units = BigInt(amount);
  const decimals = decimalsOf(currency) ?? 0;
  const digits = String(units < ZERO ? -units : units).padStart(decimals + 1, '0');
  const integerPart = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : `.${digits.slice(-decimals)}`;
  return `${units < ZERO ? '-' : ''}${integerPart}${fraction}`;
}

/** Text such as `1,250.00 USD`. The amount of an unknown currency is in minor units. */
export function moneyText(money: Money): string {
  const decimals = decimalsOf(money.currency);
  if (decimals === undefined) return `${money.amount} ${money.currency}`;
  const format = new Intl.NumberFormat(undefined, {
    ...{ minimumFractionDigits: decimals, maximumFractionDigits: decimals },
  });
  // A decimal text is formatted without rounding. The type declarations allow only numbers.
  const text = format.format(decimalText(money) as unknown as number);
  return `${text} ${money.currency}`;
}

/** Exact amount of a token. Tokens are not in the currency catalog. */
export function unitsText(units: string, decimals: number): string {
  const digits = units.padStart(decimals + 1, '0');
  const integerPart = BigInt(digits.slice(0, digits.length - decimals)).toLocaleString();
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(2, '0');
  return decimals === 0 ? integerPart : `${integerPart}.${fraction}`;
}

/** The minor units of a decimal text, or undefined if it is invalid or has too many digits. */
export function minorUnits(text: string, currency: string): bigint | undefined {
  const match = /^(-?)(\d{1,16})(?:[.,](\d*))?$/.exec(text.replaceAll(/[\s'_]/g, ''));
  const decimals = decimalsOf(currency) ?? 0;
  const fraction = match?.[3] ?? '';
  if (!match || fraction.length > decimals) return undefined;
  const units = BigInt(`${match[2]}${fraction.padEnd(decimals, '0')}`);
  return match[1] ? -units : units;
}

export function Amount({ value }: { value: Money | null | undefined }) {
  if (!value) return <span className="none">{TEXTS.none}</span>;
  return (
    <Hint text={TEXTS.minorUnits(String(value.amount), value.currency)}>
      <span className="amount">{moneyText(value)}</span>
    </Hint>
  );
}
