// Fixed mid-market rates against the US dollar, so that the sandbox and all tests are reproducible.
// The rates are plausible but not current. Production uses a rate provider for conversions, and
// these rates for the amount limits of corridors. A rate is an exact fraction between minor units.
import type { Rate } from '../../kernel/money.ts';
import { findCurrency } from './currencies.ts';

/** Units of each currency for one US dollar, as decimal strings. */
const PER_USD: Readonly<Record<string, string>> = {
  AED: '3.6725',
  ARS: '1400',
  AUD: '1.53',
  BDT: '121.5',
  BRL: '5.4',
  BWP: '13.6',
  CAD: '1.38',
  CHF: '0.8',
  CNY: '7.15',
  COP: '4050',
  CZK: '22.6',
  DKK: '6.87',
  EGP: '48.5',
  EUR: '0.92',
  GBP: '0.78',
  GHS: '11.2',
  GTQ: '7.7',
  HKD: '7.8',
  HTG: '131',
  HUF: '370',
  IDR: '16400',
  ILS: '3.4',
  INR: '82.5',
  JMD: '160',
  JPY: '150',
  KES: '129.5',
  KRW: '1380',
  KWD: '0.306',
  MWK: '1735',
  MXN: '17.25',
  MYR: '4.2',
  NGN: '1500',
  NOK: '10.3',
  NZD: '1.7',
  PHP: '56.5',
  PKR: '282',
  PLN: '3.95',
  RON: '4.6',
  RWF: '1440',
  SAR: '3.75',
  SEK: '9.8',
  SGD: '1.3',
  THB: '32.5',
  TRY: '40',
  TZS: '2450',
  UGX: '3550',
  USD: '1',
  USDB: '1',
  USDC: '1',
  USDT: '1',
  VND: '26000',
  XAF: '603',
  XOF: '603',
  ZAR: '17.6',
  ZMW: '23.5',
};

/** US dollars for one unit, for assets that are worth far more than one US dollar. */
const USD_PER_UNIT: Readonly<Record<string, bigint>> = { BTC: 120_048n };

/** Fraction of a decimal text: `17.25` is 1725 / 100. */
function fraction(decimal: string): Rate {
  const [integerPart = '0', fractionalPart = ''] = decimal.split('.');
  return { num: BigInt(integerPart + fractionalPart), den: 10n ** BigInt(fractionalPart.length) };
}

function perUsd(code: string): Rate | undefined {
  const usdPrice = USD_PER_UNIT[code];
  if (usdPrice) return { num: 1n, den: usdPrice };
  const decimal = PER_USD[code];
  return decimal === undefined ? undefined : fraction(decimal);
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Mid-market rate in minor units of `to` for one minor unit of `from`, in lowest terms.
 * Undefined for an unknown currency.
 */
export function referenceRate(from: string, to: string): Rate | undefined {
  const [source, target] = [findCurrency(from), findCurrency(to)];
  const [fromPerUsd, toPerUsd] = [perUsd(from), perUsd(to)];
  if (!source || !target || !fromPerUsd || !toPerUsd) return undefined;
  const num = toPerUsd.num * fromPerUsd.den * 10n ** BigInt(target.decimals);
  const den = toPerUsd.den * fromPerUsd.num * 10n ** BigInt(source.decimals);
  const divisor = greatestCommonDivisor(num, den);
  return { num: num / divisor, den: den / divisor };
}
