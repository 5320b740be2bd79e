// What the service charges when money leaves over a network: its own fee, and what the network takes. The
// estimate, quotes and transfers all ask here, so that what was estimated is what is charged. The network's
// part is rounded up, as whoever pays it for a customer must not be short of it.
import { type FeeSchedule, serviceFeeOf } from '../../../catalog/currencies/fees.ts';
import type { Connectors, NetworkFee } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { convert, type Money, type Rate } from '../../../kernel/money.ts';
import { midRate } from './rates.ts';

type Ports = Pick<Connectors, 'networkFees' | 'rates'>;

const times = (a: Rate, b: Rate): Rate => ({ num: a.num * b.num, den: a.den * b.den });

/** The network's fee in the currency that is sent. */
async function converted(
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
      `No exchange rate from ${from} to ${currency} is available.`,
    );
  }
  const whole = price ? { ...times(price, rate), from: asset, to: currency } : rate;
  return convert({ currency: asset, amount: fee }, whole, 'ceil');
}

interface FeeOverNetwork {
  /** The network's part is fixed, and in here. */
  service: FeeSchedule;
  /** That part alone. */
  cost: Money;
  /** What the network takes in its own terms; undefined where nobody knows, and it costs nothing. */
  networkFee: NetworkFee | undefined;
}

/** The fee on money that is sent as `from` and leaves as `to`; bank accounts have no network. */
export async function serviceFeeOver(
  ports: Ports,
  network: string | undefined,
  [from, to]: readonly [string, string],
): Promise<FeeOverNetwork> {
  const own = serviceFeeOf(from, to);
  const taken = network === undefined ? undefined : await ports.networkFees?.feeOf(network);
  const cost = taken ? await converted(ports, taken, from) : { currency: from, amount: 0n };
  return { service: { ...own, fixed: own.fixed + cost.amount }, cost, networkFee: taken };
}
