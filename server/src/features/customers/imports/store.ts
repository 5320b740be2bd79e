// Tables of imports and their row errors. A row error stores the `platformCustomerId`, column names
// and error messages, and no other value of the row. An erasure removes the `platformCustomerId`.
// The file is stored encrypted and deleted after the import.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Problem } from './scan.ts';
import { type ImportStatus, importStates } from './states.ts';

export const imports = table(
  'imports',
  {
    id: col.text,
    platform_id: col.text,
    status: col.enum<ImportStatus>().mut,
    /**
     * Identifier of the file and its encrypted key. Null for a rejected file, and after the import.
     */
    file_id: col.text.null.mut,
    file_key: col.text.null.mut,
    /** Column names of the header row. Empty for a rejected file. */
    columns: col.json<string[]>(),
    /** Problem that rejected the complete file. */
    problem: col.json<Problem>().null,
    total: col.int4,
    /** Byte offset of the next row. */
    next_byte: col.int8.mut,
    successful: col.int4.mut,
    failed: col.int4.mut,
    created_at: col.time,
    completed_at: col.time.null.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: importStates }] },
);

export type ImportRow = RowOf<typeof imports>;

/**
 * Error of one row, or of the file from this row on. The ID consists of the import ID and the row
 * number.
 */
export const importErrors = table('import_errors', {
  id: col.text,
  import_id: col.text,
  row: col.int4,
  correlation_id: col.text,
  code: col.text,
  message: col.text,
  details: col.json<Record<string, unknown>>(),
});

export type ImportErrorRow = RowOf<typeof importErrors>;
