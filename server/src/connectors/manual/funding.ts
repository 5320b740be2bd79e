// Payment instructions without a connected bank: the operator's collection accounts, a list for
// each currency. All payers share an account, so only the reference attributes a deposit. An
// account type without a reference field is rejected.

import { accountReference } from '../../catalog/accounts/account-reference.ts';
import { currencyOf } from '../../catalog/currencies/currencies.ts';
import type { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import { isRail, RAILS } from '../../catalog/rails/rails.ts';
import { iso } from '../../kernel/effects.ts';
import { formatUnits } from '../../kernel/money.ts';
import type { FundingPort, PaymentFunding } from '../ports/index.ts';

/** Account details of the operator by currency, without references. */
export type CollectionAccounts = Readonly<Record<string, readonly PaymentInstructions[]>>;

const addReference = (
  { accountOrWalletInfo, ...otherFields }: PaymentInstructions,
  reference: string,
  owner: 'customer' | 'platform',
): PaymentInstructions => ({
  ...otherFields,
  accountOrWalletInfo: { ...accountOrWalletInfo, reference },
  isPlatformAccount: owner === 'platform',
});

/** Amount, deadline and reference. All three are required for the deposit to match. */
function termsOf({ amount, currency, expiresAt, reference }: PaymentFunding): string {
  const total = formatUnits(amount, currencyOf(currency).decimals).replaceAll(',', '');
  return (
    `Send exactly ${total} ${currency} by ${iso(expiresAt)}, with the reference ${reference}, ` +
    'in one payment, over one of the rails named here. Any other amount fails.'
  );
}

/** Instructions for one payment, over rails that settle within minutes. Empty if there are none. */
function instructionsFor(
  payment: PaymentFunding,
  collectionAccount: PaymentInstructions,
): PaymentInstructions[] {
  const { paymentRails } = collectionAccount.accountOrWalletInfo as { paymentRails?: unknown };
  const realtimeRails = (Array.isArray(paymentRails) ? paymentRails : []).filter(
    (rail: string) => isRail(rail) && RAILS[rail].instant,
  );
  if (realtimeRails.length === 0) return [];
  const { accountOrWalletInfo, ...otherFields } = addReference(
    collectionAccount,
    payment.reference,
    payment.owner,
  );
  const notes = [termsOf(payment), collectionAccount.instructionsNotes].filter(Boolean).join(' ');
  const info = { ...accountOrWalletInfo, paymentRails: realtimeRails };
  return [{ ...otherFields, accountOrWalletInfo: info, instructionsNotes: notes }];
}

export const manualFunding = (collection: CollectionAccounts): FundingPort => ({
  instructions: ({ accountId, currency, owner }) =>
    (collection[currency] ?? []).map((each) =>
      addReference(each, accountReference(accountId), owner),
    ),
  forPayment: (payment) =>
    (collection[payment.currency] ?? []).flatMap((each) => instructionsFor(payment, each)),
});
