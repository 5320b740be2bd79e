// Table of erasures with their requester and progress.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Counts, PersonalData } from '../../../runtime/operation/personal-data.ts';

export const erasures = table('erasures', {
  /** Identifier of the customer. */
  id: col.text,
  platform_id: col.text,
  actor: col.text,
  reason: col.text.null,
  /** Number of rows emptied or removed, by table. */
  counts: col.json<Counts>().mut,
  created_at: col.time,
  /** Null while the erasure is in progress or after an interruption. */
  finished_at: col.time.null.mut,
  version: col.int4,
});

export type ErasureRow = RowOf<typeof erasures>;

/** Export of the erasure record. */
export const erasurePersonalData: PersonalData = {
  tables: {
    erasures: {
      rows: 't.id = $1',
      erasure: { retained: 'record of the erasure of the customer, with its reason' },
    },
  },
};
