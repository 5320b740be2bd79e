// Where money is paid in before a bank is connected: the operator's own collection accounts, one list per
// currency. Everybody pays into the same account, so the reference alone tells whose money it is; a form
// without one cannot be shared and is refused.
import type { PaymentInstructions } from '../../catalog/payment-instructions.ts';
import { isRail, RAILS } from '../../catalog/rails.ts';
import type { FundingPort } from '../ports.ts';
import { accountReference } from './reference.ts';

/** By currency: the coordinates of the operator's accounts, without references. */
export type Collection = Readonly<Record<string, readonly PaymentInstructions[]>>;

const named = (
  { accountOrWalletInfo, ...rest }: PaymentInstructions,
  reference: string,
  owner: 'customer' | 'platform',
): PaymentInstructions => ({
  ...rest,
  accountOrWalletInfo: { ...accountOrWalletInfo, reference },
  isPlatformAccount: owner === 'platform',
});

/** Whether money arrives within minutes by one of the rails it is collected over. */
function isQuick({ accountOrWalletInfo }: PaymentInstructions): boolean {
  const { paymentRails } = accountOrWalletInfo as { paymentRails?: unknown };
  return Array.isArray(paymentRails)
    ? paymentRails.some((rail: string) => isRail(rail) && RAILS[rail].instant)
    : false;
}

export const manualFunding = (collection: Collection): FundingPort => ({
  instructions: ({ accountId, currency, owner }) =>
    (collection[currency] ?? []).map((each) => named(each, accountReference(accountId), owner)),
  forPayment: ({ currency, reference, owner }) =>
    (collection[currency] ?? []).filter(isQuick).map((each) => named(each, reference, owner)),
});
