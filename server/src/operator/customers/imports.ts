// `imports list|show`: customer imports of platforms, their progress, and the errors of their rows.
// The platform API returns at most 1,000 errors of an import. `show --errors` prints all errors as
// CSV.
import {
  type ImportErrorLine,
  importDetails,
  importErrorsOf,
  searchImports,
} from '../../features/customers/imports/index.ts';
import { csv, guardedText, serverValue } from '../cli/csv.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const COLUMNS = [
  { heading: 'IMPORT' },
  { heading: 'PLATFORM' },
  { heading: 'STATUS' },
  { heading: 'ROWS', align: 'right' },
  { heading: 'SUCCESSFUL', align: 'right' },
  { heading: 'FAILED', align: 'right' },
  { heading: 'CREATED' },
] as const;

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await searchImports(system.runtime, {
    platformId: await platformIn(system, args),
    limit: limitIn(args),
  });
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

const ERROR_HEAD = ['row', 'correlation_id', 'code', 'message', 'columns'];

const errorCells = ({ row, correlation_id, code, message, details }: ImportErrorLine): string[] => [
  serverValue(row),
  guardedText(correlation_id),
  serverValue(code),
  guardedText(message),
  guardedText((details.errors ?? []).map((each) => `${each.field}: ${each.message}`).join('; ')),
];

async function show(system: System, args: CommandArgs): Promise<Output> {
  const json = await importDetails(system.runtime, args.required('import'));
  if (args.isOn('errors')) {
    const rows = importErrorsOf(system.stream, json.importId);
    return { json: null, text: '', chunks: csv(ERROR_HEAD, rows, errorCells) };
  }
  const text = record([
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
  return { json, text };
}

const SHOW_FLAGS: Flags = {
  import: { value: 'IMPORT', required: true, help: 'ID of the import' },
  errors: { negation: 'no-errors', help: 'Print the failed rows of the import as CSV' },
};

export const importVerbs: readonly Verb[] = [
  {
    noun: 'imports',
    verb: 'list',
    summary: 'List customer imports, newest first',
    flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'imports',
    verb: 'show',
    summary: 'Show a customer import, or its failed rows',
    flags: SHOW_FLAGS,
    positional: 'import',
    run: show,
  },
];
