// Erasures of customers: who requested one, and how far it has come.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Counts, PersonalData } from '../../../runtime/operation/personal-data.ts';

export const erasures = table('erasures', {
  /** The customer's. */
  id: col.text,
  platform_id: col.text,
  actor: col.text,
  reason: col.text.null,
  /** How many rows of each table were emptied or removed. */
  counts: col.json<Counts>().mut,
  created_at: col.time,
  /** Null while it is under way, or when it was cut short. */
  finished_at: col.time.null.mut,
  version: col.int4,
});

export type ErasureRow = RowOf<typeof erasures>;

/** What an export shows of an erasure itself. */
export const erasurePersonalData: PersonalData = {
  tables: {
    erasures: { rows: 't.id = $1', erasure: { stays: 'that the customer was erased, and why' } },
  },
};
