// The price of a payment in integers. Fees are deducted from the sending amount before the conversion. A
// variable fee is rounded half up, a calculated receiving amount down, and a calculated sending amount up.
// The FX position absorbs rounding differences.
import { calculateFees, type FeeSchedule } from '../../../catalog/currencies/fees.ts';
import { wholeUnitRate } from '../../../catalog/currencies/money-format.ts';
import {
  add,
  type ConversionRate,
  convert,
  type Money,
  scale,
  subtract,
  toDecimal,
} from '../../../kernel/money.ts';

export interface Terms {
  lock: 'SENDING' | 'RECEIVING';
  /** In the currency of the fixed side. */
  amount: Money;
  /** From the sending to the receiving currency. */
  rate: ConversionRate;
  service: FeeSchedule;
  platform: FeeSchedule;
}

export interface Price {
  sending: Money;
  receiving: Money;
  /** The amount to convert: `sending` less all fees. */
  net: Money;
  serviceFee: Money;
  serviceVariable: Money;
  platformFee: Money;
}

const BPS = 10_000n;

/** The amounts after fees. `net` is negative if the fees exceed `sending`. */
function subtractFees(sending: Money, { service, platform }: Terms) {
  const fees = calculateFees(sending.amount, service, platform);
  const sendingMoney = (amount: bigint): Money => ({ currency: sending.currency, amount });
  return {
    net: subtract(sending, sendingMoney(fees.total)),
    serviceFee: sendingMoney(fees.service),
    serviceVariable: sendingMoney(fees.serviceVariable),
    platformFee: sendingMoney(fees.platform),
  };
}

/**
 * The sending amount, including fees, for a fixed receiving amount, or undefined if the fee rates
 * reach 100 %.
 */
function sendingAmountFor({ amount, rate, service, platform }: Terms): Money | undefined {
  const remainingBps = BPS - BigInt(service.variableBps) - BigInt(platform.variableBps);
  if (remainingBps <= 0n) return undefined;
  const { from, to, num, den } = rate;
  const base = convert(
    amount,
    { from: to, to: from, num: den * BPS, den: num * remainingBps },
    'ceil',
  );
  return add(base, { currency: from, amount: service.fixed + platform.fixed });
}

/**
 * Undefined if the amount to convert or to deliver is not above zero, or if the fee rates reach
 * 100 %.
 */
export function priceOf(terms: Terms): Price | undefined {
  const { lock, amount, rate } = terms;
  const sending = lock === 'SENDING' ? amount : sendingAmountFor(terms);
  if (sending === undefined) return undefined;
  const afterSendingFees = subtractFees(sending, terms);
  if (afterSendingFees.net.amount <= 0n) return undefined;
  const receiving = lock === 'SENDING' ? convert(afterSendingFees.net, rate, 'floor') : amount;
  if (receiving.amount <= 0n) return undefined;
  return { sending, receiving, ...afterSendingFees };
}

const DECIMAL_PLACES = 8;
const MAX_PLACES = 24;
/** A rate is computed with at least four significant digits. */
const MIN_SCALED_RATE = 1_000n;

/**
 * Sending units for one receiving unit, both in major units. Has up to 8 decimals, or up to 24 for very small
 * rates.
 */
export function exchangeRate({ net, receiving }: Pick<Price, 'net' | 'receiving'>): string {
  const rate = wholeUnitRate(net, receiving);
  let places = DECIMAL_PLACES;
  while (places < MAX_PLACES && scale(10n ** BigInt(places), rate, 'floor') < MIN_SCALED_RATE) {
    places += 1;
  }
  return toDecimal(rate, places);
}
