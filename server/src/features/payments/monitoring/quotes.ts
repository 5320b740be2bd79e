// Quotes of all platforms for the operator. Every quote has a transaction, so quotes are listed in
// the order of their transactions. The frequently written table of quotes therefore needs no index
// for the list.
import { hasFirmRate } from '../../../catalog/currencies/rate-details.ts';
import { iso } from '../../../kernel/effects.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { firmQuoteOf, type QuoteRow, readQuote } from '../quotes/index.ts';
import type { TransactionRow } from '../transactions/index.ts';
import { type PaymentQuery, transactionsPage } from './payments.ts';

const presentQuote = async ({ db }: Runtime, row: QuoteRow, { status }: TransactionRow) => ({
  id: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  transactionId: row.transaction_id,
  transactionStatus: status,
  sendingAmount: { amount: Number(row.sending_amount), currency: row.sending_currency },
  receivingAmount: { amount: Number(row.receiving_amount), currency: row.receiving_currency },
  fees: { amount: Number(row.fees), currency: row.sending_currency },
  exchangeRate: row.exchange_rate,
  firmQuote: hasFirmRate(row.rate_details) ? await firmQuoteOf(db, row.id) : null,
  lockedSide: row.lock_side,
  agentId: row.agent_id,
  expiresAt: iso(row.expires_at),
  createdAt: iso(row.created_at),
});

/** A page of quotes, newest first. */
export async function pageOfQuotes(runtime: Runtime, query: Omit<PaymentQuery, 'type' | 'rail'>) {
  const outgoingQuery = { ...query, type: 'OUTGOING' } as const;
  const { rows, ...rest } = await transactionsPage(runtime, outgoingQuery, [
    { column: 'quote_id', op: '>=', value: '' },
  ]);
  const quotes = await Promise.all(
    rows.map((row) => (row.quote_id === null ? undefined : readQuote(runtime.db, row.quote_id))),
  );
  const data = rows.flatMap((row, index) => {
    const quote = quotes[index];
    // Absent only after the reset of a sandbox platform.
    return quote ? [presentQuote(runtime, quote, row)] : [];
  });
  return { data: await Promise.all(data), ...rest };
}
