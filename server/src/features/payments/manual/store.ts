// Entries of an operator's bank statements that were recorded as deposits.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** The id is environment, currency and the bank's reference, so that an entry is recorded once. */
export const deposits = table(
  'deposits',
  {
    id: col.text,
    platform_id: col.text,
    transaction_id: col.text,
    currency: col.text,
    amount: col.int8,
    target: col.text,
    created_at: col.time,
  },
  { clientKeyed: true },
);

export type DepositRow = RowOf<typeof deposits>;
