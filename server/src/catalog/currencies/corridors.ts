// Corridors between currencies, with their rails and amount limits. The rails of a destination
// currency are those of its account types, and SWIFT for some currencies. The limits are defined in
// US dollars, converted to the sending currency and rounded to two significant digits.
import { divide, isLess, type Money, scale } from '../../kernel/money.ts';
import { ACCOUNT_TYPE_ROWS } from '../accounts/account-types.ts';
import { PAYMENT_RAILS, type PaymentRail, RAILS } from '../rails/rails.ts';
import { CURRENCIES, findCurrency } from './currencies.ts';
import { referenceRate } from './reference-rates.ts';

export interface Corridor {
  readonly sourceCurrency: string;
  readonly destinationCurrency: string;
  /** Rail of the payout. Null for digital assets. */
  readonly rail: PaymentRail | null;
  /** Limits of one payment, in minor units of the source currency. */
  readonly minSending: bigint;
  readonly maxSending: bigint;
  /** Typical time from submission to settlement. */
  readonly settlementSeconds: number;
}

/** Currencies that can be paid out over SWIFT, in addition to any domestic rails. */
const SWIFT_CURRENCY_CODES = `AED AUD CAD CHF CZK DKK EUR GBP HKD HUF ILS JPY KWD NOK NZD PLN RON SAR
SEK SGD THB TRY USD ZAR`;
const SWIFT_CURRENCIES = new Set(SWIFT_CURRENCY_CODES.split(/\s/));

const MIN_FIAT_CENTS = 100n;
const MIN_CRYPTO_CENTS = 1n;
const MAX_CRYPTO_CENTS = 1_000_000_000n;

const rows = Object.values(ACCOUNT_TYPE_ROWS);

/** Rails for payouts in a currency, in the order of `PAYMENT_RAILS`. */
export function payoutRailsOf(currency: string): PaymentRail[] {
  const rails = new Set<PaymentRail>(
    rows.filter((row) => row.currencies.includes(currency)).flatMap((row) => row.rails),
  );
  if (SWIFT_CURRENCIES.has(currency)) rails.add('SWIFT');
  return PAYMENT_RAILS.filter((rail) => rails.has(rail));
}

/** `amount` rounded to two significant digits. */
function roundToTwoDigits(amount: bigint, rounding: 'ceil' | 'floor'): bigint {
  const unit = 10n ** BigInt(Math.max(0, amount.toString().length - 2));
  return divide(amount, unit, rounding) * unit;
}

function limits(source: string, minCents: bigint, maxCents: bigint): [bigint, bigint] | undefined {
  const rate = referenceRate('USD', source);
  if (!rate) return undefined;
  return [
    roundToTwoDigits(scale(minCents, rate, 'ceil'), 'ceil'),
    roundToTwoDigits(scale(maxCents, rate, 'floor'), 'floor'),
  ];
}

/** Corridors from one currency to another, one per rail. Empty for an unsupported pair. */
export function corridors(sourceCurrency: string, destinationCurrency: string): Corridor[] {
  const currencies = { sourceCurrency, destinationCurrency };
  if (findCurrency(destinationCurrency)?.kind === 'crypto') {
    const range = limits(sourceCurrency, MIN_CRYPTO_CENTS, MAX_CRYPTO_CENTS);
    if (!range) return [];
    const [minSending, maxSending] = range;
    return [{ ...currencies, rail: null, minSending, maxSending, settlementSeconds: 60 }];
  }
  return payoutRailsOf(destinationCurrency).flatMap((rail) => {
    const { maxUsd, settlementSeconds } = RAILS[rail];
    const range = limits(sourceCurrency, MIN_FIAT_CENTS, maxUsd * 100n);
    if (!range) return [];
    return [{ ...currencies, rail, minSending: range[0], maxSending: range[1], settlementSeconds }];
  });
}

/** Whether an amount is within the limits of a corridor. */
export const allowsAmount = (
  { sourceCurrency: currency, minSending, maxSending }: Corridor,
  sendingAmount: Money,
): boolean =>
  !isLess(sendingAmount, { currency, amount: minSending }) &&
  !isLess({ currency, amount: maxSending }, sendingAmount);

/** Destination currencies of a source currency, without the currency itself. */
export const destinationsOf = (sourceCurrency: string): string[] =>
  CURRENCIES.map((currency) => currency.code).filter(
    (code) => code !== sourceCurrency && corridors(sourceCurrency, code).length > 0,
  );
