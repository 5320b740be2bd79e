// What a payment costs and delivers, in exact integers. Fees come out of the sending side first, the rest
// converts. Roundings are few and named: each party's variable fee half up, the receiving amount down when
// the sending side is fixed, the sending amount up when the receiving side is; what rounding leaves over
// stays in the exchange position.
import { type FeeSchedule, feesOn } from '../../catalog/fees.ts';
import { divide, inverse, type Rate, scale, toDecimal } from '../../kernel/money.ts';

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

/** The least that must be sent for `net` to be left; undefined when fees eat everything. */
function sendingFor(net: bigint, terms: Terms): bigint | undefined {
  const { service, platform } = terms;
  const left = BPS - BigInt(service.variableBps) - BigInt(platform.variableBps);
  if (left <= 0n) return undefined;
  let sending = service.fixed + platform.fixed + divide(net * BPS, left, 'ceil');
  // Two halves rounded up can cost one unit more than their sum rounded once.
  while (after(sending, terms).net < net) sending += 1n;
  return sending;
}

/**
 * The price on these terms, or undefined when the amount is too small to leave anything to send or to
 * deliver.
 */
export function priceOf(terms: Terms): Price | undefined {
  const { lock, amount, rate } = terms;
  const sending =
    lock === 'SENDING' ? amount : sendingFor(scale(amount, inverse(rate), 'ceil'), terms);
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

/** Sending units for one receiving unit, both in whole currency, 8 decimals; `1` within one currency. */
export function exchangeRate(
  price: Pick<Price, 'net' | 'receiving'>,
  decimals: { sending: number; receiving: number },
): string {
  return toDecimal(
    {
      num: price.net * 10n ** BigInt(decimals.receiving),
      den: price.receiving * 10n ** BigInt(decimals.sending),
    },
    8,
  );
}
