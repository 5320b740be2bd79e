// Settings of a platform for a currency that apply to payments: enabled directions, amount limits
// and fees. Quotes, transfers and payments from UMA addresses use the same checks.
import { type FeeSchedule, NO_FEE } from '../../../catalog/currencies/fees.ts';
import { Fault } from '../../../kernel/fault.ts';
import { MAX_AMOUNT, type Money } from '../../../kernel/money.ts';
import type { PlatformCurrency, PlatformRow } from '../platform/index.ts';

/** The platform's settings for a currency, or undefined if it is not enabled. */
export const settingOf = (platform: PlatformRow, code: string): PlatformCurrency | undefined =>
  platform.currencies.find((each) => each.currencyCode === code);

/** Throws INVALID_CURRENCY if the platform has disabled payments of this direction in the currency. */
export function checkDirection(
  platform: PlatformRow,
  code: string,
  type: 'INCOMING' | 'OUTGOING',
): void {
  const types = settingOf(platform, code)?.enabledTransactionTypes;
  if (types && !types.includes(type)) {
    throw new Fault(
      'INVALID_CURRENCY',
      `${type} payments in ${code} are disabled. Enable them in the platform configuration.`,
    );
  }
}

/** Throws AMOUNT_OUT_OF_RANGE outside the platform's limits per payment. */
export function checkAmount(platform: PlatformRow, { currency, amount }: Money): void {
  const { minAmount = 1, maxAmount = Number(MAX_AMOUNT) } = settingOf(platform, currency) ?? {};
  if (amount >= BigInt(minAmount) && amount <= BigInt(maxAmount)) return;
  throw new Fault(
    'AMOUNT_OUT_OF_RANGE',
    `The amount ${amount} ${currency} is outside the limits of the platform, ` +
      `${minAmount} to ${maxAmount} in minor units.`,
    { minAmount, maxAmount },
  );
}

/** The platform's fee for payments from one currency to another. Payments in one currency have none. */
export function platformFeeOf(platform: PlatformRow, from: string, to: string): FeeSchedule {
  const fee = platform.fees.find((each) => each.sourceCurrency === from);
  if (!fee || from === to) return NO_FEE;
  return { fixed: BigInt(fee.fixedFee.amount), variableBps: fee.variableFeeBps };
}
