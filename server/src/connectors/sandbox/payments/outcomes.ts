// Outcomes of sandbox payments, as data. The last three characters of the account's primary
// identifier select a row. A row is a timeline of the states that the bank reports. Other suffixes
// succeed immediately.
import type { FailureReason } from '../../ports/index.ts';

export type Step =
  | { afterMs: number; state: 'accepted' | 'settled' | 'cancelled' }
  | { afterMs: number; state: 'failed' | 'returned'; reason: FailureReason; refundable?: boolean };

export type Timeline = readonly [Step, ...Step[]];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

export const SUCCESS: Timeline = [{ afterMs: 0, state: 'settled' }];

const fail = (reason: FailureReason, afterMs = 0): Step => ({ afterMs, state: 'failed', reason });
const ACCEPTED: Step = { afterMs: 0, state: 'accepted' };

/** Payouts of quotes. */
export const QUOTE_OUTCOMES: Readonly<Record<string, Timeline>> = {
  '002': [fail('QUOTE_EXECUTION_FAILED')],
  '003': [ACCEPTED, { afterMs: 6 * MINUTE, state: 'settled' }],
  '004': [ACCEPTED, fail('COUNTERPARTY_POST_TX_FAILED', 2 * SECOND)],
  '005': [
    { afterMs: 0, state: 'settled' },
    { afterMs: 10 * SECOND, state: 'returned', reason: 'PAYOUT_RETURNED' },
  ],
  '006': [ACCEPTED, { afterMs: 2 * SECOND, state: 'cancelled' }],
  '007': [
    ACCEPTED,
    { ...fail('COUNTERPARTY_POST_TX_FAILED', 2 * SECOND), refundable: false } as Step,
  ],
  '008': [
    { afterMs: 0, state: 'settled' },
    { afterMs: 2 * DAY, state: 'returned', reason: 'PAYOUT_RETURNED' },
  ],
};

/** Same-currency transfers and debits. */
export const TRANSFER_OUTCOMES: Readonly<Record<string, Timeline>> = {
  '002': [fail('QUOTE_EXECUTION_FAILED')],
  '003': [fail('ACCOUNT_INVALID')],
  '004': [fail('ACCOUNT_CANNOT_RECEIVE')],
  '005': [ACCEPTED, fail('PAYOUT_RETURNED', 30 * SECOND)],
};

/** Refunds to a payer, by the account of the payer. */
export const REFUND_OUTCOMES: Readonly<Record<string, Timeline>> = {
  '003': [ACCEPTED, { afterMs: 6 * MINUTE, state: 'settled' }],
  '007': [ACCEPTED, fail('ACCOUNT_CANNOT_RECEIVE', 2 * SECOND)],
};
