// Corridors: pairs of currencies with their rails and limits. They are derived: the rails of a
// destination are those of its account types, and limits are the rail's limits in US dollars,
// converted to the sending currency and rounded to two significant digits.
import { divide, isLess, type Money, scale } from '../../kernel/money.ts';
import { ACCOUNT_TYPE_ROWS } from '../accounts/account-types.ts';
import { PAYMENT_RAILS, type PaymentRail, RAILS } from '../rails/rails.ts';
import { CURRENCIES, findCurrency } from './currencies.ts';
import { referenceRate } from './reference-rates.ts';

export interface Corridor {
  readonly sourceCurrency: string;
  readonly destinationCurrency: string;
  /** The rail of the payout; null for digital assets, which settle on a chain. */
  readonly rail: PaymentRail | null;
  /** Minimum and maximum of one payment, in the smallest unit of the source currency. */
  readonly minSending: bigint;
  readonly maxSending: bigint;
  /** Usual time from sending to arrival. */
  readonly settlementSeconds: number;
}

/** Rails of correspondent banks, in addition to domestic ones. */
const SWIFT_CODES = `AED AUD CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY KWD NOK NZD PLN RON SAR SEK SGD
THB TRY USD ZAR`;
const BY_SWIFT = new Set(SWIFT_CODES.split(/\s/));

const MIN_FIAT_CENTS = 100n;
const MIN_CRYPTO_CENTS = 1n;
const MAX_CRYPTO_CENTS = 1_000_000_000n;

const rows = Object.values(ACCOUNT_TYPE_ROWS);

/** Payout rails of a currency, in the order of the enumeration. */
export function railsTo(currency: string): PaymentRail[] {
  const found = new Set<PaymentRail>(
    rows.filter((row) => row.currencies.includes(currency)).flatMap((row) => row.rails),
  );
  if (BY_SWIFT.has(currency)) found.add('SWIFT');
  return PAYMENT_RAILS.filter((rail) => found.has(rail));
}

/** `amount` rounded up or down to two significant digits. */
function twoDigits(amount: bigint, rounding: 'ceil' | 'floor'): bigint {
  const unit = 10n ** BigInt(Math.max(0, amount.toString().length - 2));
  return divide(amount, unit, rounding) * unit;
}

function limits(source: string, minCents: bigint, maxCents: bigint): [bigint, bigint] | undefined {
  const rate = referenceRate('USD', source);
  if (!rate) return undefined;
  return [
    twoDigits(scale(minCents, rate, 'ceil'), 'ceil'),
    twoDigits(scale(maxCents, rate, 'floor'), 'floor'),
  ];
}

/** Corridors from one currency to another, one per rail; may be empty. */
export function corridors(sourceCurrency: string, destinationCurrency: string): Corridor[] {
  const pair = { sourceCurrency, destinationCurrency };
  if (findCurrency(destinationCurrency)?.kind === 'crypto') {
    const range = limits(sourceCurrency, MIN_CRYPTO_CENTS, MAX_CRYPTO_CENTS);
    if (!range) return [];
    const [minSending, maxSending] = range;
    return [{ ...pair, rail: null, minSending, maxSending, settlementSeconds: 60 }];
  }
  return railsTo(destinationCurrency).flatMap((rail) => {
    const { maxUsd, settlementSeconds } = RAILS[rail];
    const range = limits(sourceCurrency, MIN_FIAT_CENTS, maxUsd * 100n);
    if (!range) return [];
    return [{ ...pair, rail, minSending: range[0], maxSending: range[1], settlementSeconds }];
  });
}

/** Whether the limits permit the amount. */
export const allowsAmount = (
  { sourceCurrency: currency, minSending, maxSending }: Corridor,
  sending: Money,
): boolean =>
  !isLess(sending, { currency, amount: minSending }) &&
  !isLess({ currency, amount: maxSending }, sending);

/** All destination currencies of a source currency. */
export const destinationsOf = (sourceCurrency: string): string[] =>
  CURRENCIES.map((currency) => currency.code).filter(
    (code) => code !== sourceCurrency && corridors(sourceCurrency, code).length > 0,
  );
