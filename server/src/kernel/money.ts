// Money is a bigint count of the currency's smallest unit, never a number. A rate is a fraction of
// bigints. The only ways to lose a fraction of a unit are the roundings named here, so that every place
// where a cent could go astray can be found by name.

/** Destination smallest units for one source smallest unit, exactly. */
export interface Rate {
  readonly num: bigint;
  readonly den: bigint;
}

type Rounding = 'floor' | 'ceil' | 'halfUp';

/** The largest amount the edge admits, in smallest units. */
export const MAX_AMOUNT = 9_000_000_000_000_000n;

/** `num / den` as a whole number. Both must not be negative, `den` not zero. */
export function divide(num: bigint, den: bigint, rounding: Rounding): bigint {
  if (num < 0n || den <= 0n) throw new RangeError(`divide(${num}, ${den}) is not defined here`);
  if (rounding === 'floor') return num / den;
  if (rounding === 'ceil') return (num + den - 1n) / den;
  return (2n * num + den) / (2n * den);
}

/** `amount × rate`, rounded by name. */
export function scale(amount: bigint, rate: Rate, rounding: Rounding): bigint {
  return divide(amount * rate.num, rate.den, rounding);
}

/** A fraction as the decimal the API shows: rounded half up to `places` digits. */
export function toDecimal(rate: Rate, places: number): string {
  const scaled = divide(rate.num * 10n ** BigInt(places), rate.den, 'halfUp').toString();
  const digits = scaled.padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - places);
  return fraction ? `${whole}.${fraction}` : whole;
}

/** An exact amount as people read it: `1234567n` with 2 decimals is `12,345.67`. */
export function readable(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = decimals ? `.${digits.slice(digits.length - decimals)}` : '';
  return `${sign}${whole}${fraction}`;
}
