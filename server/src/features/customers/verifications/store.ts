// A verification: one submission of what is known about a customer, or a decision that nobody submitted
// for, and what came of it. Every submission is a row of its own; the latest of a customer is the one that
// counts, and the key on it makes submissions at the same time one after the other.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type VerificationStatus, verificationStates } from './states.ts';

export const verifications = table(
  'verifications',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    status: col.word<VerificationStatus>().mut,
    /** Whether no later one took its place. */
    latest: col.bool.mut,
    /** `VerificationError[]`, sealed under the customer's data key; null where there are none. */
    findings: col.text.null.mut,
    /** Who found or decided it; null where it was no more than incomplete, or the sandbox's own word. */
    decided_by: col.word<'operator' | 'connector'>().null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => row.status, states: verificationStates }],
    races: ['verifications_latest'],
  },
);

export type VerificationRow = RowOf<typeof verifications>;
