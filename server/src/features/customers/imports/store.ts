// Imports of customers, and what was wrong with their rows. Nothing personal is in either table: of a row
// that failed they keep the platform's own id of the customer, which an erasure takes out, the names of
// columns and our sentences. The file itself lies sealed and goes when the import has ended.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Problem } from './scan.ts';
import { type ImportStatus, importStates } from './states.ts';

export const imports = table(
  'imports',
  {
    id: col.text,
    platform_id: col.text,
    status: col.word<ImportStatus>().mut,
    /** The file and its key, sealed; both null where nothing of the file is needed any more. */
    file_id: col.text.null.mut,
    file_key: col.text.null.mut,
    /** As the head of the file names them. */
    columns: col.json<string[]>(),
    /** Why nothing of the file is imported. */
    problem: col.json<Problem>().null,
    total: col.int4,
    /** Where in the file the next row begins. */
    next_byte: col.int8.mut,
    successful: col.int4.mut,
    failed: col.int4.mut,
    created_at: col.time,
    completed_at: col.time.null.mut,
    version: col.int4,
  },
  { lives: [{ state: (row) => row.status, states: importStates }] },
);

export type ImportRow = RowOf<typeof imports>;

/** What was wrong with one row; the id is the import's with the number of the row. */
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
