// Processes an import in slices. A job reads and registers the rows of one slice. One change set
// then stages the progress, and either the next job or the completion of the import. The progress
// is a byte offset and a row number, so that a slice reads only its own rows and finishes before
// its deadline.

import { setImmediate as pause } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import type { Caller } from '../../../kernel/caller.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { deleteFile, type Files } from '../../../runtime/files/files.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { createCustomer } from '../registration/index.ts';
import { candidateOf, cellsOfEach } from './columns.ts';
import { importEvents } from './contract.ts';
import { FILE_CORRELATION_ID, importView, isFinished } from './present.ts';
import { type Failure, type Item, type RowDeps, registerRows } from './rows.ts';
import { type RawRow, readRows } from './scan.ts';
import { type ImportOutcome, importStates } from './states.ts';
import { type ImportRow, importErrors, imports } from './store.ts';

export const IMPORT_SLICE = defineJob('imports.slice', Type.Object({ importId: Type.String() }));

type SliceJob = JobOf<typeof IMPORT_SLICE>;

export const keyContext = (importId: string) => `file key of ${importId}`;

interface ImportDeps extends RowDeps {
  files: Pick<Files, 'read'>;
}

const SLICE_LIMITS = { rows: 1_024, bytes: 1_048_576 };
/**
 * Concurrent slices in this process. Limited so that imports do not delay other jobs of the worker.
 */
const MAX_CONCURRENT_SLICES = 4;
const POSTPONE_MS = 500;
/** Read attempts before the import fails. With backoff the attempts span most of a day. */
const MAX_READ_ATTEMPTS = 30;
/** Above MAX_READ_ATTEMPTS, so that the import fails before its job is dead. */
const MAX_ATTEMPTS = 40;
/** Deadline of a slice. A slice is slower under load. */
const DEADLINE_MS = 600_000;

interface Slice {
  /** Byte offset of the next slice. */
  nextByte: bigint;
  rows: number;
  failures: Failure[];
}

async function readRawRows(
  { vault }: Runtime,
  { files }: ImportDeps,
  row: ImportRow,
): Promise<RawRow[]> {
  const { id, file_id, file_key, next_byte } = row;
  if (file_id === null || file_key === null) throw new Error(`${id} has no file`);
  const file = { id: file_id, key: vault.openOwn(file_key, keyContext(id)) };
  const start = Number(next_byte);
  const rawRows = await readRows(files.read(file, start), start, SLICE_LIMITS);
  if (!rawRows.length) throw new Error(`the file of ${id} has fewer rows than at the upload`);
  return rawRows;
}

/** Rows and bytes that are parsed before the event loop serves requests again. */
const PARSE_BATCH = { rows: 16, bytes: 65_536 };

/** Splits a slice into batches that are parsed without a pause. */
function splitIntoBatches(rawRows: readonly RawRow[]): RawRow[][] {
  const batches: RawRow[][] = [];
  let bytes = Infinity;
  for (const row of rawRows) {
    bytes += row.bytes.length;
    const lastBatch = batches.at(-1);
    if (lastBatch && lastBatch.length < PARSE_BATCH.rows && bytes <= PARSE_BATCH.bytes)
      lastBatch.push(row);
    else {
      batches.push([row]);
      bytes = row.bytes.length;
    }
  }
  return batches;
}

/** Maps rows to request bodies, with pauses in which the event loop serves other clients. */
async function parseItems(
  { bodyErrors }: ImportDeps,
  columns: readonly string[],
  firstNumber: number,
  rawRows: readonly RawRow[],
): Promise<Item[]> {
  const errorsOf = (body: unknown) => bodyErrors(createCustomer, body);
  const items: Item[] = [];
  for (const batch of splitIntoBatches(rawRows)) {
    for (const cells of cellsOfEach(batch.map(({ bytes }) => bytes))) {
      const number = firstNumber + items.length;
      items.push({ number, ...candidateOf(columns, cells, number, errorsOf) });
    }
    await pause();
  }
  return items;
}

const nextRowNumber = ({ successful, failed }: ImportRow): number => successful + failed + 1;

async function processSlice(
  runtime: Runtime,
  caller: Caller,
  deps: ImportDeps,
  row: ImportRow,
  rawRows: readonly RawRow[],
  attempts: number,
): Promise<Slice> {
  const { id, columns, next_byte } = row;
  const items = await parseItems(deps, columns, nextRowNumber(row), rawRows);
  const result = await registerRows(runtime, caller, deps, items, { importId: id, attempts });
  const lastRow = rawRows[result.rows - 1];
  return { ...result, nextByte: lastRow ? BigInt(lastRow.end) : next_byte };
}

const errorId = (importId: string, row: number) => `${importId} ${row}`;

const insertError = (ctx: Ctx, { id }: ImportRow, failure: Failure) =>
  void ctx.insert(importErrors, { id: errorId(id, failure.row), import_id: id, ...failure });

/** Completes or fails an import: deletes the file and emits the event. */
async function finishImport(
  ctx: Ctx,
  row: ImportRow,
  failures: readonly Failure[],
  outcome: ImportOutcome = row.successful > 0 ? 'complete' : 'fail',
): Promise<void> {
  const status = importStates.next(row.status, outcome);
  if (row.file_id !== null) await deleteFile(ctx, row.file_id);
  const finishColumns = { status, file_id: null, file_key: null, completed_at: ctx.now };
  const updatedImport = ctx.update(imports, row, finishColumns);
  ctx.emit(importEvents[outcome], updatedImport.id, await importView(ctx, updatedImport, failures));
}

/** Stages the result of a slice, unless another worker has recorded it. */
async function recordSlice(ctx: Ctx, rowBefore: ImportRow, slice: Slice): Promise<void> {
  const row = await ctx.read(imports, rowBefore.id);
  if (!row || isFinished(row) || row.next_byte !== rowBefore.next_byte) return;
  for (const failure of slice.failures) insertError(ctx, row, failure);
  const updatedImport = ctx.update(imports, row, {
    status: importStates.next(row.status, 'begin'),
    next_byte: slice.nextByte,
    successful: row.successful + slice.rows - slice.failures.length,
    failed: row.failed + slice.failures.length,
  });
  if (updatedImport.successful + updatedImport.failed >= updatedImport.total)
    await finishImport(ctx, updatedImport, slice.failures);
  else ctx.later(IMPORT_SLICE, { importId: updatedImport.id });
}

/** Fails an import whose file was rejected. */
async function rejectFile(ctx: Ctx, id: string): Promise<void> {
  const row = await ctx.read(imports, id);
  if (row && !isFinished(row)) await finishImport(ctx, row, []);
}

/**
 * Fails an import whose file can no longer be read. The platform must upload the remaining rows
 * again.
 */
async function failUnreadable(ctx: Ctx, rowBefore: ImportRow): Promise<void> {
  const row = await ctx.read(imports, rowBefore.id);
  if (!row || isFinished(row) || row.next_byte !== rowBefore.next_byte) return;
  const nextNumber = nextRowNumber(row);
  const message = `The file could not be read from row ${nextNumber} on. Upload the remaining rows again.`;
  const failure = {
    row: nextNumber,
    correlation_id: FILE_CORRELATION_ID,
    code: 'INTERNAL_ERROR',
    message,
    details: {},
  };
  insertError(ctx, row, failure);
  await finishImport(ctx, row, [failure], 'fail');
}

export function importJobs(deps: ImportDeps): JobHandler[] {
  let runningSlices = 0;

  async function runSlice(runtime: Runtime, job: SliceJob, caller: Caller, row: ImportRow) {
    runningSlices++;
    try {
      const rawRows = await readRawRows(runtime, deps, row).catch((error: unknown) => {
        if (job.attempts < MAX_READ_ATTEMPTS) throw error;
        return undefined;
      });
      if (!rawRows) return { caller, stage: (ctx: Ctx) => failUnreadable(ctx, row) };
      const result = await processSlice(runtime, caller, deps, row, rawRows, job.attempts);
      return { caller, stage: (ctx: Ctx) => recordSlice(ctx, row, result) };
    } finally {
      runningSlices--;
    }
  }

  async function runSliceJob(runtime: Runtime, job: SliceJob): Promise<Result> {
    const { importId } = job.input;
    const row = await runtime.db.read(imports, importId);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
    if (!row || !platform) throw new Error(`job ${job.id} refers to a missing import`);
    const caller = systemCaller(platform.id, platform.environment);
    if (isFinished(row)) return { caller, async stage() {} };
    if (row.problem) return { caller, stage: (ctx) => rejectFile(ctx, importId) };
    if (runningSlices < MAX_CONCURRENT_SLICES) return runSlice(runtime, job, caller, row);
    return {
      caller,
      async stage(ctx) {
        ctx.later(IMPORT_SLICE, { importId }, ctx.now + POSTPONE_MS);
      },
    };
  }

  const limits = { maxAttempts: MAX_ATTEMPTS, deadlineMs: DEADLINE_MS };
  return [jobHandler(IMPORT_SLICE, { ...limits, run: runSliceJob })];
}
