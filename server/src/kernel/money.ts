// Money is a currency and a bigint count of its minor units. A rate is a fraction of bigints. Amounts
// are rounded only by the rounding modes of this file, so that every rounding can be found by name.
// Every function of two amounts throws if their currencies differ.

/** Code of a currency or of a digital asset: `EUR`, `USDC`. */
export type CurrencyCode = string;

/** An amount of a currency, in minor units. */
export interface Money {
  readonly currency: CurrencyCode;
  readonly amount: bigint;
}

/** Destination minor units per source minor unit, exact. */
export interface Rate {
  readonly num: bigint;
  readonly den: bigint;
}

/** A rate and its two currencies. */
export interface ConversionRate extends Rate {
  readonly from: CurrencyCode;
  readonly to: CurrencyCode;
}

type Rounding = 'floor' | 'ceil' | 'halfUp';

/** The largest amount that the API accepts, in minor units. */
export const MAX_AMOUNT = 9_000_000_000_000_000n;

/** `num / den` as an integer. `num` must be at least zero and `den` above zero. */
export function divide(num: bigint, den: bigint, rounding: Rounding): bigint {
  if (num < 0n || den <= 0n) throw new RangeError(`divide(${num}, ${den}) is not defined`);
  if (rounding === 'floor') return num / den;
  if (rounding === 'ceil') return (num + den - 1n) / den;
  return (2n * num + den) / (2n * den);
}

/** `amount × rate` in the rounding mode. */
export function scale(amount: bigint, rate: Rate, rounding: Rounding): bigint {
  return divide(amount * rate.num, rate.den, rounding);
}

/** Two currencies in one calculation, which is a programming error. */
interface CurrencyMismatch extends RangeError {
  name: 'CurrencyMismatch';
  currencies: readonly [CurrencyCode, CurrencyCode];
}

export const sameCurrency = (a: CurrencyCode, b: CurrencyCode): boolean => a === b;

/** The only place where a calculation with mixed currencies fails. Throws `CurrencyMismatch`. */
function requireSameCurrency(a: CurrencyCode, b: CurrencyCode): void {
  if (sameCurrency(a, b)) return;
  const error: CurrencyMismatch = Object.assign(
    new RangeError(`${a} and ${b} are mixed in one calculation`),
    { name: 'CurrencyMismatch', currencies: [a, b] } as const,
  );
  throw error;
}

export function add(a: Money, b: Money): Money {
  requireSameCurrency(a.currency, b.currency);
  return { currency: a.currency, amount: a.amount + b.amount };
}

export function subtract(a: Money, b: Money): Money {
  requireSameCurrency(a.currency, b.currency);
  return { currency: a.currency, amount: a.amount - b.amount };
}

export function isLess(a: Money, b: Money): boolean {
  requireSameCurrency(a.currency, b.currency);
  return a.amount < b.amount;
}

export const smallerOf = (a: Money, b: Money): Money => (isLess(b, a) ? b : a);

/** The sum of amounts in `currency`. Zero for an empty list. */
export const sum = (currency: CurrencyCode, amounts: readonly Money[]): Money =>
  amounts.reduce(add, { currency, amount: 0n });

/** The amount in the other currency of the rate, in the rounding mode. */
export function convert(money: Money, rate: ConversionRate, rounding: Rounding): Money {
  requireSameCurrency(money.currency, rate.from);
  return { currency: rate.to, amount: scale(money.amount, rate, rounding) };
}

/**
 * A fraction as the decimal that the API shows, rounded half up to `places` digits, without trailing
 * zeros.
 */
export function toDecimal(rate: Rate, places: number): string {
  const units = divide(rate.num * 10n ** BigInt(places), rate.den, 'halfUp').toString();
  const digits = units.padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  const wholeDigits = digits.slice(0, digits.length - places);
  return fraction ? `${wholeDigits}.${fraction}` : wholeDigits;
}

/** An exact amount as text: `1234567n` with 2 decimals is `12,345.67`. */
export function formatUnits(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const integerPart = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals ? `.${digits.slice(digits.length - decimals)}` : '';
  return `${sign}${integerPart}${fraction}`;
}
