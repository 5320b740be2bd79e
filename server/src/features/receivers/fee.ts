// What leaving over a chain would cost. A connector knows the chain's fee and the rates turn it into what
// is withdrawn, rounded up: whoever pays it for a customer must not be short of it. Nothing is held.
import type { Static } from '@sinclair/typebox';
import { NETWORKS, type NetworkFact } from '../../catalog/crypto-networks.ts';
import { feesOn, serviceFeeOf } from '../../catalog/fees.ts';
import type { Connectors, NetworkFee, RatePort } from '../../connectors/ports.ts';
import { Fault, type FieldError, invalid } from '../../kernel/fault.ts';
import { type Rate, scale } from '../../kernel/money.ts';
import type { Ctx } from '../../runtime/context.ts';
import { type InternalAccountRow, internalAccountOf } from '../internal-accounts/index.ts';
import type { estimateCryptoWithdrawalFee } from './contract.ts';
import { midRate } from './found.ts';

type Withdrawal = Static<(typeof estimateCryptoWithdrawalFee)['body']>;

/** Throws what the account and the environment have to say against it, all at once. */
function check(
  ctx: Ctx,
  { currency }: InternalAccountRow,
  { isAddress }: NetworkFact,
  withdrawal: Withdrawal,
): void {
  const errors: FieldError[] = [];
  const other = withdrawal.currency !== currency;
  if (other) errors.push({ field: 'currency', message: `the account holds ${currency}` });
  if (ctx.caller.environment === 'production' && !isAddress(withdrawal.destinationAddress, true)) {
    errors.push({ field: 'destinationAddress', message: 'has a checksum that does not fit' });
  }
  if (errors.length) throw invalid(errors, other ? 'INVALID_CURRENCY' : 'INVALID_INPUT');
}

const times = (a: Rate, b: Rate): Rate => ({ num: a.num * b.num, den: a.den * b.den });

/** The network's fee in smallest units of the currency that is withdrawn. */
async function converted(
  rates: RatePort | undefined,
  { fee, asset, price }: NetworkFee,
  currency: string,
): Promise<bigint> {
  if (fee === 0n) return 0n;
  const from = price ? 'USD' : asset;
  const rate = await midRate(rates, from, currency);
  if (!rate) {
    throw new Fault('QUOTE_RATE_UNAVAILABLE', `There is no rate from ${from} to ${currency}.`);
  }
  return scale(fee, price ? times(price, rate) : rate, 'ceil');
}

/** The fee of one withdrawal. Throws AMOUNT_OUT_OF_RANGE where it would leave nothing. */
export async function estimate(ctx: Ctx, connectors: Connectors, withdrawal: Withdrawal) {
  const account = await internalAccountOf(ctx, withdrawal.internalAccountId);
  const network = NETWORKS[withdrawal.cryptoNetwork];
  check(ctx, account, network, withdrawal);
  const taken = await connectors.networkFees?.feeOf(withdrawal.cryptoNetwork);
  if (!taken) {
    const reason = `What ${withdrawal.cryptoNetwork} takes is not known here.`;
    throw new Fault('NOT_IMPLEMENTED', reason);
  }
  const amount = BigInt(withdrawal.amount);
  const { currency } = withdrawal;
  const applicationFee = feesOn(amount, serviceFeeOf(currency, currency)).total;
  const totalFee = applicationFee + (await converted(connectors.rates, taken, currency));
  if (totalFee >= amount) {
    const reason = `The fees, ${totalFee}, would leave nothing of the amount.`;
    throw new Fault('AMOUNT_OUT_OF_RANGE', reason, { min: Number(totalFee + 1n) });
  }
  return {
    networkFee: Number(taken.fee),
    networkFeeAsset: taken.asset,
    applicationFee: Number(applicationFee),
    totalFee: Number(totalFee),
    netAmount: Number(amount - totalFee),
  };
}
