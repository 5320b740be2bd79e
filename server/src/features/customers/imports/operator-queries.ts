// Imports of all platforms for operators, with every row error. The API returns only the first
// errors.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/database.ts';
import type { RowStream } from '../../../runtime/db/stream.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { platformById } from '../../tenancy/platform/index.ts';
import { type ImportErrorRow, type ImportRow, imports } from './store.ts';

const summaryOf = (row: ImportRow) => ({
  importId: row.id,
  platformId: row.platform_id,
  status: row.status,
  total: row.total,
  successful: row.successful,
  failed: row.failed,
  problem: row.problem?.message ?? null,
  createdAt: iso(row.created_at),
  completedAt: row.completed_at === null ? null : iso(row.completed_at),
});

/** Imports of one platform or of all, newest first. */
export async function searchImports(
  { db }: Runtime,
  { platformId, limit }: { platformId?: string | undefined; limit: number },
) {
  const filters = equals({ platform_id: platformId });
  return (await db.page(imports, { filters, sort: 'desc', limit })).rows.map(summaryOf);
}

interface ImportQuery {
  platformId?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** A page of imports, like `searchImports`. Throws PLATFORM_NOT_FOUND. */
export async function pageOfImports(
  runtime: Runtime,
  { platformId, limit = 20, cursor }: ImportQuery,
) {
  if (platformId !== undefined) await platformById(runtime, platformId);
  const filters = equals({ platform_id: platformId });
  const query = { filters, sort: 'desc', limit, cursor } as const;
  const { rows, ...rest } = await runtime.db.page(imports, query);
  return { data: rows.map(summaryOf), ...rest };
}

/** Import of any platform. Throws NOT_FOUND. */
export async function importDetails({ db }: Runtime, importId: string) {
  const isImportId = isId(importId, 'BulkCustomerImportJob');
  const row = isImportId ? await db.read(imports, importId) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Import not found.');
  return summaryOf(row);
}

type ErrorColumns = Pick<ImportErrorRow, 'row' | 'correlation_id' | 'code' | 'message'>;

/** Failed row. `details` lists the columns with errors. */
export interface ImportErrorLine extends ErrorColumns {
  details: { errors?: { field: string; message: string }[] };
}

const ERRORS_SQL = `select row, correlation_id, code, message, details from import_errors
  where import_id = $1 order by row`;

/** All failed rows of an import, in file order. */
export const importErrorsOf = (
  stream: RowStream,
  importId: string,
): AsyncIterable<readonly ImportErrorLine[]> => stream<ImportErrorLine>(ERRORS_SQL, [importId]);

/** Maximum number of failed rows on one page. */
export const MAX_ERROR_LINES = 100;

const ERRORS_AFTER_ROW_SQL = `select row, correlation_id, code, message, details from import_errors
  where import_id = $1 and row > $2 order by row limit $3`;

/**
 * Up to `MAX_ERROR_LINES` failed rows of an import after a row, in file order. Throws NOT_FOUND.
 */
export async function pageOfImportErrors(runtime: Runtime, id: string, afterRow: number) {
  const { importId, platformId } = await importDetails(runtime, id);
  const values = [importId, afterRow, MAX_ERROR_LINES + 1];
  const lines = await runtime.db.query<ImportErrorLine>(ERRORS_AFTER_ROW_SQL, values);
  const rows = lines.slice(0, MAX_ERROR_LINES).map((line) => ({
    row: line.row,
    correlationId: line.correlation_id,
    code: line.code,
    message: line.message,
    errors: (line.details.errors ?? []).map(({ field, message }) => ({ field, message })),
  }));
  return { importId, platformId, rows, hasMore: lines.length > MAX_ERROR_LINES };
}
