// What a payment costs and delivers, in exact integers. Fees come out of the sending side first, the rest
// converts. Roundings are few and named: each party's variable fee half up, the receiving amount down when
// the sending side is fixed, the sending amount up when the receiving side is; what rounding leaves over, or
// lacks, is taken up by the exchange position.
import { type FeeSchedule, feesOn } from '../../../catalog/currencies/fees.ts';
import { divide, type Rate, scale, toDecimal } from '../../../kernel/money.ts';

export interface Terms {
  lock: 'SENDING' | 'RECEIVING';
  amount: bigint;
  /** Receiving smallest units for one sending smallest unit. */
  rate: Rate;
  service: FeeSchedule;
  platform: FeeSchedule;
}

export interface Price {
  sending: bigint;
  receiving: bigint;
  /** What converts: `sending` less all fees. */
  net: bigint;
  serviceFee: bigint;
  serviceVariable: bigint;
  platformFee: bigint;
}

const BPS = 10_000n;

/** What fees leave of `sending`; negative when they take more than there is. */
function after(sending: bigint, { service, platform }: Terms) {
  const fees = feesOn(sending, service, platform);
  return { fees, net: sending - fees.total };
}

/** What must be sent for the amount to arrive, fees on top; undefined when fees eat everything. */
function sendingFor({ amount, rate, service, platform }: Terms): bigint | undefined {
  const left = BPS - BigInt(service.variableBps) - BigInt(platform.variableBps);
  if (left <= 0n) return undefined;
  const base = divide(amount * rate.den * BPS, rate.num * left, 'ceil');
  return service.fixed + platform.fixed + base;
}

/**
 * The price on these terms, or undefined when the amount is too small to leave anything to send or to
 * deliver.
 */
export function priceOf(terms: Terms): Price | undefined {
  const { lock, amount, rate } = terms;
  const sending = lock === 'SENDING' ? amount : sendingFor(terms);
  if (sending === undefined) return undefined;
  const { fees, net } = after(sending, terms);
  if (net <= 0n) return undefined;
  const receiving = lock === 'SENDING' ? scale(net, rate, 'floor') : amount;
  if (receiving <= 0n) return undefined;
  return {
    sending,
    receiving,
    net,
    serviceFee: fees.service,
    serviceVariable: fees.serviceVariable,
    platformFee: fees.platform,
  };
}

const PLACES = 8;
const MOST_PLACES = 24;
/** A rate shown with fewer digits than four that mean something says too little, or zero. */
const LEAST_DIGITS = 1_000n;

/**
 * Sending units for one receiving unit, both in whole currency: 8 decimals, and more only where the
 * receiving unit is worth next to nothing beside the sending one.
 */
export function exchangeRate(
  price: Pick<Price, 'net' | 'receiving'>,
  decimals: { sending: number; receiving: number },
): string {
  const rate = {
    num: price.net * 10n ** BigInt(decimals.receiving),
    den: price.receiving * 10n ** BigInt(decimals.sending),
  };
  let places = PLACES;
  while (places < MOST_PLACES && scale(10n ** BigInt(places), rate, 'floor') < LEAST_DIGITS) {
    places += 1;
  }
  return toDecimal(rate, places);
}
