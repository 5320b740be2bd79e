// What leaving over a chain would cost. It is worked out as for a payment that really leaves, so a transfer
// of the same amount to the same place delivers what is estimated here. Nothing is held.
import type { Static } from '@sinclair/typebox';
import { NETWORKS, type NetworkFact } from '../../../catalog/crypto/crypto-networks.ts';
import { feesOn } from '../../../catalog/currencies/fees.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { Fault, type FieldError, invalid } from '../../../kernel/fault.ts';
import { isLess, type Money, subtract } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  internalAccountOf,
} from '../../balances/internal-accounts/index.ts';
import { serviceFeeOver } from '../discovery/index.ts';
import type { estimateCryptoWithdrawalFee } from './contract.ts';

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

/** The fee of one withdrawal. Throws AMOUNT_OUT_OF_RANGE where it would leave nothing. */
export async function estimate(ctx: Ctx, connectors: Connectors, withdrawal: Withdrawal) {
  const account = await internalAccountOf(ctx, withdrawal.internalAccountId);
  const network = NETWORKS[withdrawal.cryptoNetwork];
  check(ctx, account, network, withdrawal);
  const { cryptoNetwork, currency } = withdrawal;
  const charged = await serviceFeeOver(connectors, cryptoNetwork, [currency, currency]);
  const { service, cost, taken } = charged;
  if (!taken) {
    throw new Fault('NOT_IMPLEMENTED', `What ${cryptoNetwork} takes is not known here.`);
  }
  const amount: Money = { currency, amount: BigInt(withdrawal.amount) };
  const totalFee: Money = { currency, amount: feesOn(amount.amount, service).total };
  if (!isLess(totalFee, amount)) {
    const reason = `The fees, ${totalFee.amount}, would leave nothing of the amount.`;
    throw new Fault('AMOUNT_OUT_OF_RANGE', reason, { min: Number(totalFee.amount + 1n) });
  }
  return {
    networkFee: Number(taken.fee),
    networkFeeAsset: taken.asset,
    applicationFee: Number(subtract(totalFee, cost).amount),
    totalFee: Number(totalFee.amount),
    netAmount: Number(subtract(amount, totalFee).amount),
  };
}
