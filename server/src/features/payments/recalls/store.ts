// Requests for the return of settled payouts, at most one for each payment.

import type { RecallCause, RecallRejection } from '../../../connectors/ports/rail.ts';
import { Fault } from '../../../kernel/fault.ts';
import { stateTable } from '../../../kernel/states.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

export const RECALL_STATES = ['REQUESTED', 'ACCEPTED', 'REJECTED'] as const;
export type RecallStatus = (typeof RECALL_STATES)[number];

/** ACCEPTED: the bank agreed to a return. The return is recorded as a result of the payment. */
export const recallStates = stateTable<RecallStatus, 'accept' | 'reject'>('recall', {
  REQUESTED: { accept: 'ACCEPTED', reject: 'REJECTED' },
  ACCEPTED: {},
  REJECTED: {},
});

/** `id` is the ID of the transaction, and of the instruction of its payout. */
export const transferRecalls = table(
  'transfer_recalls',
  {
    id: col.text,
    platform_id: col.text,
    provider_id: col.text,
    cause: col.enum<RecallCause>(),
    state: col.enum<RecallStatus>().mut,
    /** Null unless REJECTED. */
    rejection: col.enum<RecallRejection>().null.mut,
    decided_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.state, states: recallStates }],
    unique: {
      transfer_recalls_pkey: () =>
        new Fault('CONFLICT', 'The return of this payment was already requested.'),
    },
  },
);
export type RecallRow = RowOf<typeof transferRecalls>;
