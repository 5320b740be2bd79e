// A quote whose source is an embedded wallet: what its holder signs, shown where other quotes show how to pay
// in. It is made with the quote, kept as it is and names everything that will move, so that a signature
// means this payment and no other.

import type { PaymentInstructions } from '../../../../catalog/rails/payment-instructions.ts';
import { canonical } from '../../../../kernel/crypto/canonical.ts';
import { iso, type Time } from '../../../../kernel/effects.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { type authorizePayment, paymentText, type Wallet } from '../../../wallets/index.ts';
import type { Payee, Payer, Priced } from '../../pricing/index.ts';
import type { OutgoingRow } from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';

/** What a quote is about to move. */
export interface Intent {
  quoteId: string;
  transactionId: string;
  payer: Payer;
  payee: Payee;
  money: Priced;
  expiresAt: Time;
}

/** The movement as one text: amounts in smallest units, as text. */
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

const FORM = 'EMBEDDED_WALLET';

export const signingInstructions = (
  ctx: Ctx,
  wallet: Wallet,
  intent: Intent,
): PaymentInstructions[] => [
  {
    accountOrWalletInfo: {
      accountType: FORM,
      payloadToSign: paymentText(ctx, wallet, intentText(intent)),
    },
  },
];

/** What must be signed before a quote is executed; undefined where its money is no wallet's. */
export function signedPaymentOf(
  quote: QuoteRow,
  row: OutgoingRow,
): Parameters<typeof authorizePayment>[3] | undefined {
  const info = row.instructions?.find((each) => each.accountOrWalletInfo.accountType === FORM);
  if (!info || row.source_account === null) return undefined;
  return {
    accountId: row.source_account,
    payload: info.accountOrWalletInfo.payloadToSign as string,
    until: quote.expires_at,
  };
}
