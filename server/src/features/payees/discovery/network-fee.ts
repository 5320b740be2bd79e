// The fee of a payment to a wallet: the service fee plus the network fee. Estimates, quotes and
// transfers use the same calculation, so that they differ by the rates only. The network fee is
// rounded up, so that it is always covered.
import { type FeeSchedule, serviceFeeOf } from '../../../catalog/currencies/fees.ts';
import type { Connectors, NetworkFee } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { convert, type Money, type Rate } from '../../../kernel/money.ts';
import { midRate } from './rates.ts';

type Ports = Pick<Connectors, 'networkFees' | 'rates'>;

const multiplyRates = (a: Rate, b: Rate): Rate => ({ num: a.num * b.num, den: a.den * b.den });

/** The network fee in the sending currency. Throws QUOTE_RATE_UNAVAILABLE. */
async function convertFee(
  { rates }: Ports,
  { fee, asset, price }: NetworkFee,
  currency: string,
): Promise<Money> {
  if (fee === 0n) return { currency, amount: 0n };
  const from = price ? 'USD' : asset;
  const rate = await midRate(rates, from, currency);
  if (!rate) {
    throw new Fault(
      'QUOTE_RATE_UNAVAILABLE',
      `No exchange rate from ${from} to ${currency} is available. Repeat the request later.`,
    );
  }
  const fullConversionRate = price
    ? { ...multiplyRates(price, rate), from: asset, to: currency }
    : rate;
  return convert({ currency: asset, amount: fee }, fullConversionRate, 'ceil');
}

interface FeeOverNetwork {
  /** Service fee. The network fee is included in `fixed`. */
  service: FeeSchedule;
  /** The network fee in the sending currency. */
  cost: Money;
  /** The fee in the asset of the network, or undefined if it is not available and not charged. */
  networkFee: NetworkFee | undefined;
}

/** The fee of a payment from `from` to `to`. `network` is undefined for bank accounts. */
export async function addNetworkFee(
  ports: Ports,
  network: string | undefined,
  [from, to]: readonly [string, string],
): Promise<FeeOverNetwork> {
  const serviceFee = serviceFeeOf(from, to);
  const networkFee = network === undefined ? undefined : await ports.networkFees?.feeOf(network);
  const cost = networkFee
    ? await convertFee(ports, networkFee, from)
    : { currency: from, amount: 0n };
  return {
    service: { ...serviceFee, fixed: serviceFee.fixed + cost.amount },
    cost,
    networkFee,
  };
}
