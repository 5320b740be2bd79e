// The status of a quote, told from its transaction and the clock.
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
 * A pending quote past its time has expired even before the sweep notices. One whose payment was settled
 * stays completed when the bank sends the money back later: the exchange itself was done.
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
