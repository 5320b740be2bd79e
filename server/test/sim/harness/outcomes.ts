// Outcomes of sandbox payments by the last three characters of the destination account number.
// Written from the tables of the specification.

export interface Outcome {
  status: 'COMPLETED' | 'FAILED' | 'EXPIRED';
  refund: 'NONE' | 'COMPLETED' | 'FAILED';
}

const COMPLETED: Outcome = { status: 'COMPLETED', refund: 'NONE' };
const RETURNED: Outcome = { status: 'FAILED', refund: 'COMPLETED' };
export const EXPIRED: Outcome = { status: 'EXPIRED', refund: 'NONE' };

/** Payments by quote, by suffix of the destination. */
const QUOTE: Readonly<Record<string, Outcome>> = {
  '002': RETURNED,
  '003': COMPLETED,
  '004': RETURNED,
  '005': RETURNED,
  '006': { status: 'COMPLETED', refund: 'COMPLETED' },
  '007': { status: 'FAILED', refund: 'FAILED' },
};

/** Transfers within one currency. */
const TRANSFER: Readonly<Record<string, Outcome>> = {
  '002': RETURNED,
  '003': RETURNED,
  '004': RETURNED,
  '005': RETURNED,
};

/** All suffixes with a meaning, including suffixes of names, and some without. */
export const SUFFIXES = ['000', '002', '003', '004', '005', '006', '007', '102', '103', '789'];

export const outcomeOf = (kind: 'quote' | 'transfer', suffix: string | null): Outcome =>
  (suffix !== null && (kind === 'quote' ? QUOTE : TRANSFER)[suffix]) || COMPLETED;

/** The outcome of a funding debit. A failed debit has no refund. */
export const debitOutcome = (suffix: string): Outcome =>
  TRANSFER[suffix] ? { status: 'FAILED', refund: 'NONE' } : COMPLETED;

/** Documented UMA addresses of the sandbox. Null marks an address that does not exist. */
export const ADDRESSES: Readonly<Record<string, Outcome | null>> = {
  '$success.usd': COMPLETED,
  '$success.eur': COMPLETED,
  '$success.mxn': COMPLETED,
  '$pending.long.usd': COMPLETED,
  '$fail.compliance.usd': RETURNED,
  '$non.existent.usd': null,
};
