// One indicative price: an amount through the fees, the mid rate and the limits of a corridor. Pure; the
// rate and the platform's settings come in as data.

import type { WithdrawalNetwork } from '../../../catalog/crypto/crypto-networks.ts';
import type { Corridor } from '../../../catalog/currencies/corridors.ts';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { type FeeSchedule, feesOn } from '../../../catalog/currencies/fees.ts';
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

/** Digits after the point, unless the number would lose meaning. */
const PLACES = 8;
const LEAST_DIGITS = 100_000n;

/** A price for people: 8 decimals, more where that leaves fewer than six digits that mean something. */
export function readableRate(rate: Rate): number {
  let places = PLACES;
  while ((rate.num * 10n ** BigInt(places)) / rate.den < LEAST_DIGITS && places < 24) places += 1;
  return Number(toDecimal(rate, places));
}

/** A payment rail, or the network that a digital asset is paid out over. */
export type PayoutRail = PaymentRail | WithdrawalNetwork;

interface PriceInput {
  corridor: Corridor;
  rail: PayoutRail;
  /** Fee of the service, with that of the network. */
  service: FeeSchedule;
  sending: Money;
  mid: { rate: Rate; at: Time };
  platform: PlatformRow;
}

function limitsOf({ corridor, platform }: PriceInput) {
  const own = platform.currencies.find((each) => each.currencyCode === corridor.sourceCurrency);
  const least = BigInt(own?.minAmount ?? 0);
  const most = BigInt(own?.maxAmount ?? MAX_AMOUNT);
  const { minSending, maxSending } = corridor;
  return {
    minSendingAmount: Number(least > minSending ? least : minSending),
    maxSendingAmount: Number(most < maxSending ? most : maxSending),
  };
}

/**
 * The row of one corridor and rail. Fees that eat the whole amount leave nothing to receive; the rate is
 * then the mid rate. Undefined when more would arrive than an amount can say.
 */
export function priceRow(asked: PriceInput) {
  const { corridor, rail, service, sending, mid, platform } = asked;
  const { sourceCurrency: from, destinationCurrency: to } = corridor;
  const fees = feesOn(sending.amount, service, platformFeeOf(platform, from, to));
  const left = subtract(sending, { currency: from, amount: fees.total });
  const net = left.amount > 0n ? left : { currency: from, amount: 0n };
  const receiving = convert(net, { ...mid.rate, from, to }, 'floor');
  if (receiving.amount > MAX_AMOUNT) return undefined;
  const { num, den } = mid.rate;
  const rate =
    receiving.amount > 0n
      ? wholeUnitRate(sending, receiving)
      : wholeUnitRate({ currency: from, amount: den }, { currency: to, amount: num });
  return {
    sourceCurrency: currencyView(from),
    sendingAmount: Number(sending.amount),
    ...limitsOf(asked),
    destinationCurrency: currencyView(to),
    destinationPaymentRail: rail,
    receivingAmount: Number(receiving.amount),
    exchangeRate: readableRate(rate),
    fees: { fixed: Number(fees.fixed), total: Number(fees.total) },
    updatedAt: iso(mid.at),
  };
}
