// Quotes: a guaranteed price and all the data that execution needs. Only an erasure changes a row. Only the
// transaction states whether a quote was executed and with which result.

import type { StoredRateDetails } from '../../../catalog/currencies/rate-details.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Reader } from '../../../runtime/operation/context.ts';

export const quotes = table('quotes', {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text.null,
  transaction_id: col.text,
  /** Source and destination as requested. */
  source: col.json<Record<string, unknown>>(),
  destination: col.json<Record<string, unknown>>(),
  sending_currency: col.text,
  receiving_currency: col.text,
  sending_amount: col.int8,
  receiving_amount: col.int8,
  /** Service and platform fees together, in the sending currency. */
  fees: col.int8,
  platform_fees: col.int8,
  exchange_rate: col.text,
  rate_details: col.json<StoredRateDetails>(),
  lock_side: col.enum<'SENDING' | 'RECEIVING'>(),
  lock_amount: col.int8,
  description: col.text.null,
  /** The agent that requested the quote. */
  agent_id: col.text.null,
  expires_at: col.time,
  created_at: col.time,
});

/** The payment that uses a Lightning invoice, by payment hash. */
export const invoiceUses = table(
  'invoice_uses',
  { id: col.text, transaction_id: col.text.mut, created_at: col.time, version: col.int4 },
  {
    unique: {
      invoice_uses_pkey: () =>
        new Fault(
          'INVALID_RECEIVER',
          'Another payment already uses this invoice. Request a new invoice.',
        ),
    },
  },
);

export type QuoteRow = RowOf<typeof quotes>;

/** Reads by ID. Concurrent reads are batched. */
export const readQuote = (reader: Reader, id: string): Promise<QuoteRow | undefined> =>
  reader.read(quotes, id);
