// The status of a quote, derived from its transaction and the time.
import type { Time } from '../../../kernel/effects.ts';

export const QUOTE_STATUSES = [
  'PENDING',
  'PENDING_AUTHORIZATION',
  'PROCESSING',
  'COMPLETED',
  'FAILED',
  'EXPIRED',
] as const;

type QuoteStatus = (typeof QUOTE_STATUSES)[number];

/**
 * A pending quote expires at `expiresAt`, before the sweep runs. A quote remains COMPLETED if the receiving
 * bank returns the settled payment later.
 */
export function quoteStatus(
  payment: { status: QuoteStatus; settled_at: Time | null },
  expiresAt: Time,
  now: Time,
): QuoteStatus {
  if (payment.status === 'PENDING' && now >= expiresAt) return 'EXPIRED';
  if (payment.status === 'FAILED' && payment.settled_at !== null) return 'COMPLETED';
  return payment.status;
}
