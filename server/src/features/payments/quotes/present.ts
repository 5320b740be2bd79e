// A quote as the API shows it: its own fixed facts, and the status its payment tells.

import type { Static } from '@sinclair/typebox';
import { currencyView } from '../../../catalog/currencies/currencies.ts';
import { iso, type Time } from '../../../kernel/world.ts';
import { instructionsOf } from '../presentation/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import type { Quote } from './contract.ts';
import { quoteStatus } from './states.ts';
import type { QuoteRow } from './store.ts';

/** The JSON of GET /quotes/{id} at `now`. */
export function presentQuote(row: QuoteRow, payment: OutgoingRow, now: Time) {
  return {
    id: row.id,
    status: quoteStatus(payment, row.expires_at, now),
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
    source: row.source,
    destination: row.destination,
    sendingCurrency: currencyView(row.sending_currency),
    receivingCurrency: currencyView(row.receiving_currency),
    totalSendingAmount: Number(row.sending_amount),
    totalReceivingAmount: Number(row.receiving_amount),
    exchangeRate: Number(row.exchange_rate),
    feesIncluded: Number(row.fees),
    platformFeesIncluded: Number(row.platform_fees),
    paymentInstructions: instructionsOf(payment) ?? [],
    transactionId: row.transaction_id,
    ...(payment.counterparty ? { counterpartyInformation: payment.counterparty } : {}),
    rateDetails: row.rate_details,
    lockedCurrencySide: row.lock_side,
    lockedCurrencyAmount: Number(row.lock_amount),
    ...(row.description === null ? {} : { description: row.description }),
  } as Static<typeof Quote>;
}
