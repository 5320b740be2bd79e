// Working an import off, slice by slice. A job reads some rows, registers them, and stages in one change set
// how far the import has come and the job for the next slice, or the end. Where it goes on is a byte of the
// file and the number of a row, so nothing is read twice and no slice outlasts its lease.
import type { Caller, Ctx } from '../../runtime/context.ts';
import { dropFile, type Files } from '../../runtime/files.ts';
import type { Job, JobHandler, Result } from '../../runtime/jobs.ts';
import type { Runtime } from '../../runtime/operate.ts';
import { createCustomer } from '../customers/index.ts';
import { platforms, systemCaller } from '../platform/index.ts';
import { candidateOf, cellsOfEach } from './columns.ts';
import { importView, isOver } from './present.ts';
import { type Failure, type RowParts, registerRows } from './rows.ts';
import { readRows } from './scan.ts';
import { importStates } from './states.ts';
import { type ImportRow, importErrors, imports } from './store.ts';

export const IMPORT_SLICE = 'imports.slice';

export const keyContext = (importId: string) => `file key of ${importId}`;

export interface ImportParts extends RowParts {
  files: Pick<Files, 'read'>;
}

/** What a slice may hold. */
const MOST = { rows: 1_024, bytes: 1_048_576 };
/** Slices under way in this process: other work of the same worker must not wait for imports. */
const SLICES_AT_ONCE = 4;
const WAIT_MS = 500;

/** What a slice has come to. */
interface Slice {
  /** Where the next one begins. */
  nextByte: bigint;
  rows: number;
  failures: Failure[];
}

async function workOff(
  runtime: Runtime,
  caller: Caller,
  parts: ImportParts,
  row: ImportRow,
  tries: number,
): Promise<Slice> {
  const { id, file_id, file_key, columns, next_byte } = row;
  if (file_id === null || file_key === null) throw new Error(`${id} has no file`);
  const file = { id: file_id, key: runtime.vault.openOwn(file_key, keyContext(id)) };
  const from = Number(next_byte);
  const raw = await readRows(parts.files.read(file, from), from, MOST);
  const errorsOf = (body: unknown) => parts.bodyErrors(createCustomer, body);
  const first = row.successful + row.failed + 1;
  const cells = cellsOfEach(raw.map(({ bytes }) => bytes));
  const items = cells.map((each, at) => {
    const number = first + at;
    return { number, ...candidateOf(columns, each, number, errorsOf) };
  });
  const done = await registerRows(runtime, caller, parts, items, { importId: id, tries });
  const last = raw[done.rows - 1];
  return { ...done, nextByte: last ? BigInt(last.end) : next_byte };
}

const errorId = (importId: string, row: number) => `${importId} ${row}`;

/** Ends an import: the file goes, and the platform is told. */
async function end(ctx: Ctx, row: ImportRow, failures: readonly Failure[]): Promise<void> {
  const status = importStates.next(row.status, row.successful > 0 ? 'complete' : 'fail');
  if (row.file_id !== null) await dropFile(ctx, row.file_id);
  const over = { status, file_id: null, file_key: null, completed_at: ctx.now };
  const now = ctx.update(imports, row, over);
  ctx.emit(`BULK_UPLOAD.${status}`, now.id, await importView(ctx, now, failures));
}

/** Stages what a slice came to; nothing where another worker was faster. */
async function record(ctx: Ctx, was: ImportRow, slice: Slice): Promise<void> {
  const row = await ctx.read(imports, was.id);
  if (!row || isOver(row) || row.next_byte !== was.next_byte) return;
  for (const failure of slice.failures) {
    ctx.insert(importErrors, {
      id: errorId(row.id, failure.row),
      import_id: row.id,
      ...failure,
    });
  }
  const now = ctx.update(imports, row, {
    status: importStates.next(row.status, 'begin'),
    next_byte: slice.nextByte,
    successful: row.successful + slice.rows - slice.failures.length,
    failed: row.failed + slice.failures.length,
  });
  if (now.successful + now.failed >= now.total) await end(ctx, now, slice.failures);
  else ctx.later(IMPORT_SLICE, { importId: now.id });
}

/** Files that say what is wrong with them; nothing of them is imported. */
async function refuseWhole(ctx: Ctx, id: string): Promise<void> {
  const row = await ctx.read(imports, id);
  if (row && !isOver(row)) await end(ctx, row, []);
}

export function importJobs(parts: ImportParts): JobHandler[] {
  let under = 0;

  async function slice(runtime: Runtime, job: Job, caller: Caller, row: ImportRow) {
    under++;
    try {
      const done = await workOff(runtime, caller, parts, row, job.attempts);
      return { caller, stage: (ctx: Ctx) => record(ctx, row, done) };
    } finally {
      under--;
    }
  }

  async function run(runtime: Runtime, job: Job): Promise<Result> {
    const importId = job.input.importId as string;
    const row = await runtime.db.read(imports, importId);
    const platform = row && (await runtime.db.read(platforms, row.platform_id));
    if (!row || !platform) throw new Error(`job ${job.id} names no import`);
    const caller = systemCaller(platform.id, platform.environment);
    if (isOver(row)) return { caller, async stage() {} };
    if (row.problem) return { caller, stage: (ctx) => refuseWhole(ctx, importId) };
    if (under < SLICES_AT_ONCE) return slice(runtime, job, caller, row);
    return {
      caller,
      async stage(ctx) {
        ctx.later(IMPORT_SLICE, { importId }, ctx.now + WAIT_MS);
      },
    };
  }

  return [{ kind: IMPORT_SLICE, run }];
}
