// What a payment costs and delivers, in exact integers. Fees come out of the sending side first, the rest
// converts. Roundings are few and named: each party's variable fee half up, the receiving amount down when
// the sending side is fixed, the sending amount up when the receiving side is; what rounding leaves over, or
// lacks, is taken up by the exchange position.
import { type FeeSchedule, feesOn } from '../../../catalog/currencies/fees.ts';
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
  /** In the currency of the side that is fixed. */
  amount: Money;
  /** From the sending to the receiving currency. */
  rate: ConversionRate;
  service: FeeSchedule;
  platform: FeeSchedule;
}

export interface Price {
  sending: Money;
  receiving: Money;
  /** What converts: `sending` less all fees, which are in its currency. */
  net: Money;
  serviceFee: Money;
  serviceVariable: Money;
  platformFee: Money;
}

const BPS = 10_000n;

/** What fees leave of `sending`; negative when they take more than there is. */
function after(sending: Money, { service, platform }: Terms) {
  const fees = feesOn(sending.amount, service, platform);
  const money = (amount: bigint): Money => ({ currency: sending.currency, amount });
  return {
    net: subtract(sending, money(fees.total)),
    serviceFee: money(fees.service),
    serviceVariable: money(fees.serviceVariable),
    platformFee: money(fees.platform),
  };
}

/** What must be sent for the amount to arrive, fees on top; undefined when fees eat everything. */
function sendingFor({ amount, rate, service, platform }: Terms): Money | undefined {
  const left = BPS - BigInt(service.variableBps) - BigInt(platform.variableBps);
  if (left <= 0n) return undefined;
  const { from, to, num, den } = rate;
  const base = convert(amount, { from: to, to: from, num: den * BPS, den: num * left }, 'ceil');
  return add(base, { currency: from, amount: service.fixed + platform.fixed });
}

/**
 * The price on these terms, or undefined when the amount is too small to leave anything to send or to
 * deliver.
 */
export function priceOf(terms: Terms): Price | undefined {
  const { lock, amount, rate } = terms;
  const sending = lock === 'SENDING' ? amount : sendingFor(terms);
  if (sending === undefined) return undefined;
  const left = after(sending, terms);
  if (left.net.amount <= 0n) return undefined;
  const receiving = lock === 'SENDING' ? convert(left.net, rate, 'floor') : amount;
  if (receiving.amount <= 0n) return undefined;
  return { sending, receiving, ...left };
}

const PLACES = 8;
const MAX_PLACES = 24;
/** A rate shown with fewer digits than four that mean something says too little, or zero. */
const LEAST_DIGITS = 1_000n;

/**
 * Sending units for one receiving unit, both in whole currency: 8 decimals, and more only where the
 * receiving unit is worth next to nothing beside the sending one.
 */
export function exchangeRate({ net, receiving }: Pick<Price, 'net' | 'receiving'>): string {
  const rate = wholeUnitRate(net, receiving);
  let places = PLACES;
  while (places < MAX_PLACES && scale(10n ** BigInt(places), rate, 'floor') < LEAST_DIGITS) {
    places += 1;
  }
  return toDecimal(rate, places);
}
