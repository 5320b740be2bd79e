// One indicative price: an amount after fees at the mid rate, with the limits of the corridor.
// The functions are pure.

import type { WithdrawalNetwork } from '../../../catalog/crypto/crypto-networks.ts';
import type { Corridor } from '../../../catalog/currencies/corridors.ts';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { calculateFees, type FeeSchedule } from '../../../catalog/currencies/fees.ts';
import { wholeUnitRate } from '../../../catalog/currencies/money-format.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import {
  convert,
  MAX_AMOUNT,
  type Money,
  type Rate,
  subtract,
  toDecimal,
} from '../../../kernel/money.ts';
import { platformFeeOf } from '../../tenancy/config/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';

const DECIMAL_PLACES = 8;
/** Smallest number with six digits. */
const MIN_SCALED_RATE = 100_000n;

/** A rate with up to 8 decimals, or up to 24 if it would have fewer than six significant digits. */
export function readableRate(rate: Rate): number {
  let places = DECIMAL_PLACES;
  while ((rate.num * 10n ** BigInt(places)) / rate.den < MIN_SCALED_RATE && places < 24)
    places += 1;
  return Number(toDecimal(rate, places));
}

/** A payment rail, or the withdrawal network of a digital asset. */
export type PayoutRail = PaymentRail | WithdrawalNetwork;

interface PriceInput {
  corridor: Corridor;
  rail: PayoutRail;
  /** Service fee, including the network fee. */
  service: FeeSchedule;
  sendingMoney: Money;
  midRate: { rate: Rate; at: Time };
  platform: PlatformRow;
}

function limitsOf({ corridor, platform }: PriceInput) {
  const currencySettings = platform.currencies.find(
    (each) => each.currencyCode === corridor.sourceCurrency,
  );
  const min = BigInt(currencySettings?.minAmount ?? 0);
  const max = BigInt(currencySettings?.maxAmount ?? MAX_AMOUNT);
  const { minSending, maxSending } = corridor;
  return {
    minSendingAmount: Number(min > minSending ? min : minSending),
    maxSendingAmount: Number(max < maxSending ? max : maxSending),
  };
}

/**
 * The row of one corridor and rail. If the receiving amount after fees is zero, the rate is the mid
 * rate. Undefined if the receiving amount exceeds the maximum of an amount.
 */
export function priceRow(input: PriceInput) {
  const { corridor, rail, service, sendingMoney, midRate, platform } = input;
  const { sourceCurrency: from, destinationCurrency: to } = corridor;
  const fees = calculateFees(sendingMoney.amount, service, platformFeeOf(platform, from, to));
  const remainingMoney = subtract(sendingMoney, { currency: from, amount: fees.total });
  const netMoney = remainingMoney.amount > 0n ? remainingMoney : { currency: from, amount: 0n };
  const receivingMoney = convert(netMoney, { ...midRate.rate, from, to }, 'floor');
  if (receivingMoney.amount > MAX_AMOUNT) return undefined;
  const { num, den } = midRate.rate;
  const rate =
    receivingMoney.amount > 0n
      ? wholeUnitRate(sendingMoney, receivingMoney)
      : wholeUnitRate({ currency: from, amount: den }, { currency: to, amount: num });
  return {
    sourceCurrency: currencyView(from),
    sendingAmount: Number(sendingMoney.amount),
    ...limitsOf(input),
    destinationCurrency: currencyView(to),
    destinationPaymentRail: rail,
    receivingAmount: Number(receivingMoney.amount),
    exchangeRate: readableRate(rate),
    fees: { fixed: Number(fees.fixed), total: Number(fees.total) },
    updatedAt: iso(midRate.at),
  };
}
