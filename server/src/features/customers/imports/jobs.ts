// Working an import off, slice by slice. A job reads some rows, registers them, and stages in one change set
// how far the import has come and the job for the next slice, or the end. Where it goes on is a byte of the
// file and the number of a row, so nothing is read twice and no slice outlasts its lease.

import { setImmediate as pause } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import type { Caller } from '../../../kernel/caller.ts';
import { defineJob } from '../../../kernel/contract/job.ts';
import { dropFile, type Files } from '../../../runtime/files/files.ts';
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
import { FILE, importView, isOver } from './present.ts';
import { type Failure, type Item, type RowParts, registerRows } from './rows.ts';
import { type RawRow, readRows } from './scan.ts';
import { type ImportEnd, importStates } from './states.ts';
import { type ImportRow, importErrors, imports } from './store.ts';

export const IMPORT_SLICE = defineJob('imports.slice', Type.Object({ importId: Type.String() }));

type SliceJob = JobOf<typeof IMPORT_SLICE>;

export const keyContext = (importId: string) => `file key of ${importId}`;

interface ImportParts extends RowParts {
  files: Pick<Files, 'read'>;
}

/** What a slice may hold. */
const MOST = { rows: 1_024, bytes: 1_048_576 };
/** Slices under way in this process: other work of the same worker must not wait for imports. */
const SLICES_AT_ONCE = 4;
const WAIT_MS = 500;
/** Tries to read on: with the waits between them, longer than storage is out of order. About a day. */
const MOST_READS = 30;
/** The import ends by itself before its job is dead. */
const MAX_ATTEMPTS = 40;
/** A slice that holds back for requests takes its time. */
const DEADLINE_MS = 600_000;

/** What a slice has come to. */
interface Slice {
  /** Where the next one begins. */
  nextByte: bigint;
  rows: number;
  failures: Failure[];
}

async function rawRows(
  { vault }: Runtime,
  { files }: ImportParts,
  row: ImportRow,
): Promise<RawRow[]> {
  const { id, file_id, file_key, next_byte } = row;
  if (file_id === null || file_key === null) throw new Error(`${id} has no file`);
  const file = { id: file_id, key: vault.openOwn(file_key, keyContext(id)) };
  const from = Number(next_byte);
  const raw = await readRows(files.read(file, from), from, MOST);
  if (!raw.length) throw new Error(`the file of ${id} has fewer rows than it had`);
  return raw;
}

/** Rows, and bytes of them, that are read before the event loop serves requests again. */
const AT_ONCE = { rows: 16, bytes: 65_536 };

/** Parts of a slice that are short enough to be read without a pause. */
function partsOf(raw: readonly RawRow[]): RawRow[][] {
  const parts: RawRow[][] = [];
  let bytes = Infinity;
  for (const row of raw) {
    bytes += row.bytes.length;
    const last = parts.at(-1);
    if (last && last.length < AT_ONCE.rows && bytes <= AT_ONCE.bytes) last.push(row);
    else {
      parts.push([row]);
      bytes = row.bytes.length;
    }
  }
  return parts;
}

/** Reads rows as requests, with pauses in which the event loop serves other clients. */
async function itemsOf(
  { bodyErrors }: ImportParts,
  columns: readonly string[],
  first: number,
  raw: readonly RawRow[],
): Promise<Item[]> {
  const errorsOf = (body: unknown) => bodyErrors(createCustomer, body);
  const items: Item[] = [];
  for (const part of partsOf(raw)) {
    for (const cells of cellsOfEach(part.map(({ bytes }) => bytes))) {
      const number = first + items.length;
      items.push({ number, ...candidateOf(columns, cells, number, errorsOf) });
    }
    await pause();
  }
  return items;
}

const nextRow = ({ successful, failed }: ImportRow): number => successful + failed + 1;

async function workOff(
  runtime: Runtime,
  caller: Caller,
  parts: ImportParts,
  row: ImportRow,
  raw: readonly RawRow[],
  tries: number,
): Promise<Slice> {
  const { id, columns, next_byte } = row;
  const items = await itemsOf(parts, columns, nextRow(row), raw);
  const done = await registerRows(runtime, caller, parts, items, { importId: id, tries });
  const last = raw[done.rows - 1];
  return { ...done, nextByte: last ? BigInt(last.end) : next_byte };
}

const errorId = (importId: string, row: number) => `${importId} ${row}`;

const keep = (ctx: Ctx, { id }: ImportRow, failure: Failure) =>
  void ctx.insert(importErrors, { id: errorId(id, failure.row), import_id: id, ...failure });

/** Ends an import: the file goes, and the platform is told. */
async function end(
  ctx: Ctx,
  row: ImportRow,
  failures: readonly Failure[],
  move: ImportEnd = row.successful > 0 ? 'complete' : 'fail',
): Promise<void> {
  const status = importStates.next(row.status, move);
  if (row.file_id !== null) await dropFile(ctx, row.file_id);
  const over = { status, file_id: null, file_key: null, completed_at: ctx.now };
  const now = ctx.update(imports, row, over);
  ctx.emit(importEvents[move], now.id, await importView(ctx, now, failures));
}

/** Stages what a slice came to; nothing where another worker was faster. */
async function record(ctx: Ctx, was: ImportRow, slice: Slice): Promise<void> {
  const row = await ctx.read(imports, was.id);
  if (!row || isOver(row) || row.next_byte !== was.next_byte) return;
  for (const failure of slice.failures) keep(ctx, row, failure);
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

/** Ends an import whose file storage does not give back: its platform has to send what is left again. */
async function giveUp(ctx: Ctx, was: ImportRow): Promise<void> {
  const row = await ctx.read(imports, was.id);
  if (!row || isOver(row) || row.next_byte !== was.next_byte) return;
  const next = nextRow(row);
  const message = `The file could not be read on from row ${next}. Send the rest of it again.`;
  const failure = { row: next, correlation_id: FILE, code: 'INTERNAL_ERROR', message, details: {} };
  keep(ctx, row, failure);
  await end(ctx, row, [failure], 'fail');
}

export function importJobs(parts: ImportParts): JobHandler[] {
  let under = 0;

  async function slice(runtime: Runtime, job: SliceJob, caller: Caller, row: ImportRow) {
    under++;
    try {
      const raw = await rawRows(runtime, parts, row).catch((error: unknown) => {
        if (job.attempts < MOST_READS) throw error;
        return undefined;
      });
      if (!raw) return { caller, stage: (ctx: Ctx) => giveUp(ctx, row) };
      const done = await workOff(runtime, caller, parts, row, raw, job.attempts);
      return { caller, stage: (ctx: Ctx) => record(ctx, row, done) };
    } finally {
      under--;
    }
  }

  async function run(runtime: Runtime, job: SliceJob): Promise<Result> {
    const { importId } = job.input;
    const row = await runtime.db.read(imports, importId);
    const platform = row && (await readPlatform(runtime.db, row.platform_id));
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

  const limits = { maxAttempts: MAX_ATTEMPTS, deadlineMs: DEADLINE_MS };
  return [jobHandler(IMPORT_SLICE, { ...limits, run })];
}
