// One indicative price: an amount through the fees, the mid rate and the limits of a corridor. Pure; the
// rate and the platform's settings come in as data.

import type { WithdrawalNetwork } from '../../../catalog/crypto/crypto-networks.ts';
import type { Corridor } from '../../../catalog/currencies/corridors.ts';
import { currencyOf, currencyView } from '../../../catalog/currencies/currencies.ts';
import { type FeeSchedule, feesOn } from '../../../catalog/currencies/fees.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import { MAX_AMOUNT, type Rate, scale, toDecimal } from '../../../kernel/money.ts';
import { iso, type Time } from '../../../kernel/world.ts';
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

/** Whole units of the source for one whole unit of the destination. */
function perWhole(from: string, to: string, sending: bigint, receiving: bigint): Rate {
  const scaleOf = (code: string) => 10n ** BigInt(currencyOf(code).decimals);
  return { num: sending * scaleOf(to), den: receiving * scaleOf(from) };
}

/** A payment rail, or the network that a digital asset is paid out over. */
export type PayoutRail = PaymentRail | WithdrawalNetwork;

interface Asked {
  corridor: Corridor;
  rail: PayoutRail;
  /** Fee of the service, with that of the network. */
  service: FeeSchedule;
  sending: bigint;
  mid: { rate: Rate; at: Time };
  platform: PlatformRow;
}

function limitsOf({ corridor, platform }: Asked) {
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
export function priceRow(asked: Asked) {
  const { corridor, rail, service, sending, mid, platform } = asked;
  const { sourceCurrency: from, destinationCurrency: to } = corridor;
  const fees = feesOn(sending, service, platformFeeOf(platform, from, to));
  const net = sending > fees.total ? sending - fees.total : 0n;
  const receiving = scale(net, mid.rate, 'floor');
  if (receiving > MAX_AMOUNT) return undefined;
  const rate =
    receiving > 0n
      ? perWhole(from, to, sending, receiving)
      : perWhole(from, to, mid.rate.den, mid.rate.num);
  return {
    sourceCurrency: currencyView(from),
    sendingAmount: Number(sending),
    ...limitsOf(asked),
    destinationCurrency: currencyView(to),
    destinationPaymentRail: rail,
    receivingAmount: Number(receiving),
    exchangeRate: readableRate(rate),
    fees: { fixed: Number(fees.fixed), total: Number(fees.total) },
    updatedAt: iso(mid.at),
  };
}
