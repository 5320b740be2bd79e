// What a platform has set for a currency, as a payment meets it: whether money may come or go in it, and how
// much at once. Quotes, transfers and payments from UMA addresses are held to the same.
import { type FeeSchedule, NO_FEE } from '../../../catalog/currencies/fees.ts';
import { Fault } from '../../../kernel/fault.ts';
import { MAX_AMOUNT, type Money } from '../../../kernel/money.ts';
import type { PlatformCurrency, PlatformRow } from '../platform/index.ts';

/** The platform's settings for a currency; undefined where it does not use it. */
export const settingOf = (platform: PlatformRow, code: string): PlatformCurrency | undefined =>
  platform.currencies.find((each) => each.currencyCode === code);

/** Throws INVALID_CURRENCY where the platform has switched such payments off. */
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

/** Throws AMOUNT_OUT_OF_RANGE for more or less than the platform lets through at once. */
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

/** The platform's standing fee on this pair. */
export function platformFeeOf(platform: PlatformRow, from: string, to: string): FeeSchedule {
  const fee = platform.fees.find((each) => each.sourceCurrency === from);
  if (!fee || from === to) return NO_FEE;
  return { fixed: BigInt(fee.fixedFee.amount), variableBps: fee.variableFeeBps };
}
