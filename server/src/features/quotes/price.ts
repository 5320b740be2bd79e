// What a payment costs and delivers, in exact integers. Fees come out of the sending side first, the rest
// converts. Roundings are few and named: each party's variable fee half up, the receiving amount down when
// the sending side is fixed, the sending amount up when the receiving side is; what rounding leaves over
// stays in the exchange position.
import { divide, inverse, type Rate, scale, toDecimal } from '../../kernel/money.ts';

/** One party's fee: `fixed` in smallest sending units, `bps` hundredths of a percent of what is left. */
export interface Fee {
  fixed: bigint;
  bps: number;
}

export interface Terms {
  lock: 'SENDING' | 'RECEIVING';
  amount: bigint;
  /** Receiving smallest units for one sending smallest unit. */
  rate: Rate;
  service: Fee;
  platform: Fee;
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

const share = (base: bigint, bps: number) => divide(base * BigInt(bps), BPS, 'halfUp');

function from(base: bigint, terms: Terms) {
  const serviceVariable = share(base, terms.service.bps);
  const platformVariable = share(base, terms.platform.bps);
  return { serviceVariable, platformVariable, net: base - serviceVariable - platformVariable };
}

/** The least base whose net is at least `net`; undefined when fees eat everything. */
function baseFor(net: bigint, terms: Terms): bigint | undefined {
  const left = BPS - BigInt(terms.service.bps) - BigInt(terms.platform.bps);
  if (left <= 0n) return undefined;
  let base = divide(net * BPS, left, 'ceil');
  // Two halves rounded up can cost one unit more than their sum rounded once.
  while (from(base, terms).net < net) base += 1n;
  return base;
}

/**
 * The price on these terms, or undefined when the amount is too small to leave anything to send or to
 * deliver.
 */
export function priceOf(terms: Terms): Price | undefined {
  const fixed = terms.service.fixed + terms.platform.fixed;
  const base =
    terms.lock === 'SENDING'
      ? terms.amount - fixed
      : baseFor(scale(terms.amount, inverse(terms.rate), 'ceil'), terms);
  if (base === undefined || base <= 0n) return undefined;
  const { serviceVariable, platformVariable, net } = from(base, terms);
  if (net <= 0n) return undefined;
  const receiving = terms.lock === 'SENDING' ? scale(net, terms.rate, 'floor') : terms.amount;
  if (receiving <= 0n) return undefined;
  return {
    sending: base + fixed,
    receiving,
    net,
    serviceFee: terms.service.fixed + serviceVariable,
    serviceVariable,
    platformFee: terms.platform.fixed + platformVariable,
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
