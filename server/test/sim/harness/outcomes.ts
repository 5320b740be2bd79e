// Outcomes of sandbox payments by the last three characters of the destination account number, as
// in the tables of the specification.

export interface Outcome {
  status: 'COMPLETED' | 'FAILED' | 'EXPIRED';
  refund: 'NONE' | 'COMPLETED' | 'FAILED';
}

const COMPLETED_OUTCOME: Outcome = { status: 'COMPLETED', refund: 'NONE' };
const RETURNED_OUTCOME: Outcome = { status: 'FAILED', refund: 'COMPLETED' };
export const EXPIRED_OUTCOME: Outcome = { status: 'EXPIRED', refund: 'NONE' };

/** Payments by quote, by suffix of the destination. */
const QUOTE_OUTCOMES: Readonly<Record<string, Outcome>> = {
  '002': RETURNED_OUTCOME,
  '003': COMPLETED_OUTCOME,
  '004': RETURNED_OUTCOME,
  '005': RETURNED_OUTCOME,
  '006': { status: 'COMPLETED', refund: 'COMPLETED' },
  '007': { status: 'FAILED', refund: 'FAILED' },
};

/** Transfers within one currency. */
const TRANSFER_OUTCOMES: Readonly<Record<string, Outcome>> = {
  '002': RETURNED_OUTCOME,
  '003': RETURNED_OUTCOME,
  '004': RETURNED_OUTCOME,
  '005': RETURNED_OUTCOME,
};

/** All suffixes with a meaning, including suffixes of names, and some without. */
export const SUFFIXES = ['000', '002', '003', '004', '005', '006', '007', '102', '103', '789'];

export const outcomeOf = (kind: 'quote' | 'transfer', suffix: string | null): Outcome =>
  (suffix !== null && (kind === 'quote' ? QUOTE_OUTCOMES : TRANSFER_OUTCOMES)[suffix]) ||
  COMPLETED_OUTCOME;

/** The outcome of a funding debit. A failed debit has no refund. */
export const debitOutcome = (suffix: string): Outcome =>
  TRANSFER_OUTCOMES[suffix] ? { status: 'FAILED', refund: 'NONE' } : COMPLETED_OUTCOME;

/** Documented UMA addresses of the sandbox. Null marks an address that does not exist. */
export const ADDRESSES: Readonly<Record<string, Outcome | null>> = {
  '$success.usd': COMPLETED_OUTCOME,
  '$success.eur': COMPLETED_OUTCOME,
  '$success.mxn': COMPLETED_OUTCOME,
  '$pending.long.usd': COMPLETED_OUTCOME,
  '$fail.compliance.usd': RETURNED_OUTCOME,
  '$non.existent.usd': null,
};
