// Between which currencies money can be sent, over which rails it arrives, and how much at once.
// Derived: the rails of a destination are those of its account types, the limits are dollar limits
// of the rail written in the sending currency and rounded to two digits that mean something.
import { divide, isLess, type Money, scale } from '../../kernel/money.ts';
import { ACCOUNT_TYPE_ROWS } from '../accounts/account-types.ts';
import { PAYMENT_RAILS, type PaymentRail, RAILS } from '../rails/rails.ts';
import { CURRENCIES, findCurrency } from './currencies.ts';
import { referenceRate } from './reference-rates.ts';

export interface Corridor {
  readonly sourceCurrency: string;
  readonly destinationCurrency: string;
  /** The rail of the payout; null for digital assets, which arrive on a chain. */
  readonly rail: PaymentRail | null;
  /** Least and most that can be sent at once, in smallest units of the source currency. */
  readonly minSending: bigint;
  readonly maxSending: bigint;
  /** Usual time from sending to arrival. */
  readonly settlementSeconds: number;
}

/** Money that correspondent banks deliver abroad, beside what a country's own rails do. */
const SWIFT_CODES = `AED AUD CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY KWD NOK NZD PLN RON SAR SEK SGD
THB TRY USD ZAR`;
const BY_SWIFT = new Set(SWIFT_CODES.split(/\s/));

const MIN_FIAT_CENTS = 100n;
const MIN_CRYPTO_CENTS = 1n;
const MAX_CRYPTO_CENTS = 1_000_000_000n;

const rows = Object.values(ACCOUNT_TYPE_ROWS);

/** Rails over which a currency can be paid out, in the order of the enumeration. */
export function railsTo(currency: string): PaymentRail[] {
  const found = new Set<PaymentRail>(
    rows.filter((row) => row.currencies.includes(currency)).flatMap((row) => row.rails),
  );
  if (BY_SWIFT.has(currency)) found.add('SWIFT');
  return PAYMENT_RAILS.filter((rail) => found.has(rail));
}

/** `amount` with all but its first two digits made zero, upwards or downwards. */
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

/** The ways from one currency to another, one per rail; empty when there is none. */
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

/** Whether so much can be sent at once. */
export const allowsAmount = (
  { sourceCurrency: currency, minSending, maxSending }: Corridor,
  sending: Money,
): boolean =>
  !isLess(sending, { currency, amount: minSending }) &&
  !isLess({ currency, amount: maxSending }, sending);

/** Every other currency that money of this one can be sent to. */
export const destinationsOf = (sourceCurrency: string): string[] =>
  CURRENCIES.map((currency) => currency.code).filter(
    (code) => code !== sourceCurrency && corridors(sourceCurrency, code).length > 0,
  );
