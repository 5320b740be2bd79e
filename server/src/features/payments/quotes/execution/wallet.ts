// Quotes whose source is an embedded wallet. The payment instructions contain the payload that the holder
// signs. This immutable payload contains all accounts and amounts, so that a signature is valid for this
// payment only.

import type { PaymentInstructions } from '../../../../catalog/rails/payment-instructions.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../../kernel/effects.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { type authorizePayment, paymentText, type Wallet } from '../../../wallets/index.ts';
import type { Payee, Payer, PaymentPrice } from '../../pricing/index.ts';
import type { OutgoingRow } from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';

/** The payment of a quote that is being created. */
export interface Intent {
  quoteId: string;
  transactionId: string;
  payer: Payer;
  payee: Payee;
  money: PaymentPrice;
  expiresAt: Time;
}

/** The canonical text of the payment. Amounts are in minor units, as text. */
const intentText = ({ quoteId, transactionId, payer, payee, money, expiresAt }: Intent): string =>
  canonical({
    quoteId,
    transactionId,
    source: 'account' in payer ? payer.account.id : undefined,
    sendingCurrency: payer.currency,
    sendingAmount: String(money.price.sending.amount),
    fees: String(money.fees.amount),
    destination: payee.kind === 'uma' ? payee.umaAddress : payee.account.id,
    receivingCurrency: payee.currency,
    receivingAmount: String(money.price.receiving.amount),
    expiresAt: iso(expiresAt),
  });

const ACCOUNT_TYPE = 'EMBEDDED_WALLET';

export const signingInstructions = (
  ctx: Ctx,
  wallet: Wallet,
  intent: Intent,
): PaymentInstructions[] => [
  {
    accountOrWalletInfo: {
      accountType: ACCOUNT_TYPE,
      payloadToSign: paymentText(ctx, wallet, intentText(intent)),
    },
  },
];

/** The payload to sign before execution, or undefined if the source is not an embedded wallet. */
export function signedPaymentOf(
  quote: QuoteRow,
  row: OutgoingRow,
): Parameters<typeof authorizePayment>[3] | undefined {
  const info = row.instructions?.find(
    (each) => each.accountOrWalletInfo.accountType === ACCOUNT_TYPE,
  );
  if (!info || row.source_account === null) return undefined;
  return {
    accountId: row.source_account,
    payload: info.accountOrWalletInfo.payloadToSign as string,
    until: quote.expires_at,
  };
}
