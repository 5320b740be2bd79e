// Table of verifications. A row is one submission, or a decision without a submission, with its
// outcome. The latest verification of a customer is authoritative. A unique key on it serializes
// concurrent submissions.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type VerificationStatus, verificationStates } from './states.ts';

export const verifications = table(
  'verifications',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    status: col.enum<VerificationStatus>().mut,
    /** Whether this is the latest verification of the customer. */
    latest: col.bool.mut,
    /** `VerificationError[]`, encrypted with the data key of the customer, or null if empty. */
    findings: col.text.null.mut,
    /**
     * Source of the findings, or of a decision after the submission. Null if only data is missing,
     * while the review is pending, and for an approval or rejection at the submission.
     */
    decided_by: col.enum<'operator' | 'connector'>().null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: verificationStates }],
    contendedKeys: ['verifications_latest'],
  },
);

export type VerificationRow = RowOf<typeof verifications>;
