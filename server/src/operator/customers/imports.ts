// `imports list|show`: files of customers that platforms have sent, how far each has come, and what was
// wrong with their rows. The API shows the first errors; here they all are, as CSV, however many.
import { type ImportRow, imports } from '../../features/customers/imports/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { equals } from '../../runtime/db/database.ts';
import { csv, plain, text } from '../cli/csv.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const view = (row: ImportRow) => ({
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

const COLUMNS = [
  { head: 'IMPORT' },
  { head: 'PLATFORM' },
  { head: 'STATUS' },
  { head: 'ROWS', align: 'right' },
  { head: 'SUCCESSFUL', align: 'right' },
  { head: 'FAILED', align: 'right' },
  { head: 'CREATED' },
] as const;

async function list(system: System, given: Given): Promise<Output> {
  const filters = equals({ platform_id: await platformIn(system, given) });
  const query = { filters, sort: 'desc', limit: limitIn(given) } as const;
  const json = (await system.runtime.db.page(imports, query)).rows.map(view);
  const lines = json.map((each) => [
    each.importId,
    each.platformId,
    each.status,
    `${each.total}`,
    `${each.successful}`,
    `${each.failed}`,
    each.createdAt,
  ]);
  return { json, text: table(COLUMNS, lines) };
}

const ERRORS = `select row, correlation_id, code, message, details from import_errors
  where import_id = $1 order by row`;

interface ErrorLine {
  row: number;
  correlation_id: string;
  code: string;
  message: string;
  details: { errors?: { field: string; message: string }[] };
}

const ERROR_HEAD = ['row', 'correlation_id', 'code', 'message', 'columns'];

const errorCells = ({ row, correlation_id, code, message, details }: ErrorLine): string[] => [
  plain(row),
  text(correlation_id),
  plain(code),
  text(message),
  text((details.errors ?? []).map((each) => `${each.field}: ${each.message}`).join('; ')),
];

async function show(system: System, given: Given): Promise<Output> {
  const id = given.needed('import');
  const row = isId(id, 'BulkCustomerImportJob')
    ? await system.runtime.db.read(imports, id)
    : undefined;
  if (!row) throw notFound('import');
  if (given.on('errors')) {
    const rows = system.stream<ErrorLine>(ERRORS, [id]);
    return { json: null, text: '', pieces: csv(ERROR_HEAD, rows, errorCells) };
  }
  const json = view(row);
  const lines = record([
    ['Import', json.importId],
    ['Platform', json.platformId],
    ['Status', json.status],
    ['Rows', `${json.total}`],
    ['Successful', `${json.successful}`],
    ['Failed', `${json.failed}`],
    ['Problem', json.problem ?? 'none'],
    ['Created', json.createdAt],
    ['Ended', json.completedAt ?? 'not yet'],
  ]);
  return { json, text: lines };
}

const SHOW: Flags = {
  import: { value: 'IMPORT', required: true, help: 'Id of the import' },
  errors: { off: 'no-errors', help: 'Its rows that failed instead, as CSV' },
};

export const importVerbs: readonly Verb[] = [
  {
    noun: 'imports',
    verb: 'list',
    summary: 'List imports of customers, newest first',
    flags: { platform: { value: 'PLATFORM', help: 'Of one platform (all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'imports',
    verb: 'show',
    summary: 'Show an import of customers, or its rows that failed',
    flags: SHOW,
    bare: 'import',
    run: show,
  },
];
