// Files at rest, each sealed under its own key. Deleting the key erases the file in all copies of
// storage. A row is committed before the first byte is sent. The sweep therefore finds files that
// were never attached, and removes them after a grace period.

import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Caller } from '../../kernel/caller.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import type { Inspector, StoragePort, UploadedFile } from '../../kernel/contract/upload.ts';
import type { Time } from '../../kernel/effects.ts';
import { Fault, invalid } from '../../kernel/fault.ts';
import { newId } from '../../kernel/id.ts';
import { stateTable } from '../../kernel/states.ts';
import type { ResetRules } from '../committer/reset.ts';
import { col, type RowOf, table } from '../db/table.ts';
import { type JobHandler, type JobOf, jobHandler, type Result, type Sweep } from '../jobs/jobs.ts';
import type { Ctx } from '../operation/context.ts';
import { operate, type Runtime } from '../operation/operate.ts';
import { KEY_BYTES } from '../security/crypto.ts';
import { openContent, sealContent } from '../security/sealed-stream.ts';

type FileState = 'UPLOADING' | 'KEPT' | 'GONE';

export const fileStates = stateTable<FileState, 'attach' | 'drop'>('File', {
  UPLOADING: { attach: 'KEPT', drop: 'GONE' },
  KEPT: { drop: 'GONE' },
  GONE: {},
});

/** A row is deleted only after storage has deleted its object. */
export const files = table(
  'files',
  {
    id: col.text,
    platform_id: col.text,
    state: col.enum<FileState>().mut,
    /** Size and hash of the clear content. Set when the file is attached. */
    size: col.int8.null.mut,
    sha256: col.text.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.state, states: fileStates }] },
);
type FileRow = RowOf<typeof files>;

interface PutOptions {
  maxBytes: number;
  inspect?: (() => Inspector) | undefined;
  fileName?: string;
}

export interface Files {
  /**
   * Seals `source` and sends it to storage. Throws INVALID_INPUT for the field `file` if the content is
   * longer than `maxBytes`. Throws SERVICE_UNAVAILABLE if storage fails. In both cases the file is removed,
   * at the latest by the sweep.
   */
  put(
    caller: Caller,
    source: AsyncIterable<Uint8Array>,
    options: PutOptions,
  ): Promise<UploadedFile>;
  /**
   * The clear content from byte `from` on. Throws if a part was truncated, reordered or changed. Every
   * returned chunk is authentic.
   */
  read(file: { id: string; key: Uint8Array }, from?: number): AsyncIterable<Buffer>;
  /** Removes a file that is not attached to a resource. */
  discard(caller: Caller, fileId: string): Promise<void>;
}

const REMOVE = defineJob(
  'files.remove',
  Type.Object({ file: Type.String(), platform: Type.String() }),
);

/** Longer than the maximum duration of an upload. */
const UNATTACHED_MS = 3_600_000;

/**
 * Attaches the file in this change set. The owner seals and stores the file's key. Throws
 * SERVICE_UNAVAILABLE if the file was dropped or belongs to another platform.
 */
export async function attachFile(ctx: Ctx, upload: UploadedFile): Promise<void> {
  const row = await ctx.read(files, upload.id);
  if (row?.platform_id !== ctx.caller.platformId || row.state === 'GONE') {
    throw new Fault(
      'SERVICE_UNAVAILABLE',
      'The file was not attached within an hour of its upload. Upload it again.',
    );
  }
  ctx.update(files, row, {
    state: fileStates.next(row.state, 'attach'),
    size: BigInt(upload.size),
    sha256: upload.sha256,
  });
}

function stageRemoval(ctx: Ctx, row: FileRow): void {
  ctx.update(files, row, { state: fileStates.next(row.state, 'drop') });
  ctx.later(REMOVE, { file: row.id, platform: row.platform_id });
}

/** Drops the file, which storage deletes after the commit. A repeated call has no effect. */
export async function deleteFile(ctx: Ctx, fileId: string): Promise<void> {
  const row = await ctx.read(files, fileId);
  if (row && row.platform_id === ctx.caller.platformId && row.state !== 'GONE') {
    stageRemoval(ctx, row);
  }
}

const PREFIX = 'File:';

/** Rows of dropped files, and the jobs that remove objects, are retained until the objects are removed. */
export const fileReset: ResetRules = {
  retained: { files: "t.state = 'GONE'", jobs: `t.kind = '${REMOVE.kind}'` },
};

const REMAINING_FILES = `select id from files where platform_id = $1 and state <> 'GONE' limit 500`;

/** Drops all files of a platform. */
export async function dropFiles(runtime: Runtime, caller: Caller): Promise<void> {
  for (;;) {
    const rows = await runtime.db.query<{ id: string }>(REMAINING_FILES, [caller.platformId]);
    if (rows.length === 0) return;
    await operate(runtime, caller, async (ctx) => {
      for (const { id } of rows) await deleteFile(ctx, id);
    });
  }
}

/** Name of the object: a UUID, which every storage accepts as a name. */
const objectOf = (fileId: string) => fileId.slice(PREFIX.length);

/** The server as the caller for a platform. Files are the same in both environments. */
const serverCallerOf = (platformId: string): Caller => ({
  platformId,
  environment: 'sandbox',
  tokenId: null,
  permissions: [],
});

/** Counts, hashes and inspects the bytes of a stream. */
function measure(source: AsyncIterable<Uint8Array>, { maxBytes, inspect }: PutOptions) {
  const hash = createHash('sha256');
  const inspector = inspect?.();
  let size = 0;
  let sourceError: { error: unknown } | undefined;
  async function* passThrough(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > maxBytes) throw tooLarge(maxBytes);
        hash.update(chunk);
        inspector?.write(chunk);
        yield chunk;
      }
    } catch (error) {
      sourceError = { error };
      throw error;
    }
  }
  return {
    content: passThrough(),
    /** The error of a source that failed, or undefined. */
    broken: () => sourceError,
    measured: () => ({ size, sha256: hash.digest('hex'), findings: inspector?.end() }),
  };
}

const tooLarge = (maxBytes: number) =>
  invalid([{ field: 'file', message: `is larger than ${maxBytes} bytes` }]);

/** Drops a file that is not attached. Returns its previous state, or undefined if there is no row. */
const drop = (runtime: Runtime, caller: Caller, fileId: string): Promise<FileState | undefined> =>
  operate(runtime, caller, async (ctx) => {
    const row = await ctx.read(files, fileId);
    if (row?.state === 'UPLOADING') stageRemoval(ctx, row);
    return row?.state;
  });

/** Files of this installation, in the configured storage. */
export function createFiles(runtime: Runtime, storage: StoragePort): Files {
  async function put(caller: Caller, source: AsyncIterable<Uint8Array>, options: PutOptions) {
    const id = newId(runtime.effects, 'File');
    const key = Buffer.from(runtime.effects.random(KEY_BYTES));
    const { platformId } = caller;
    await operate(runtime, caller, async (ctx) => {
      const row = { id, platform_id: platformId, state: 'UPLOADING', created_at: ctx.now } as const;
      ctx.insert(files, row);
    });
    const { content, broken, measured } = measure(source, options);
    try {
      await storage.put(objectOf(id), sealContent(key, id, content));
    } catch (cause) {
      const problem = broken();
      if (problem) {
        // If this removal fails as well, the sweep removes the file.
        await drop(runtime, caller, id).catch(() => undefined);
        throw problem.error;
      }
      // Storage may still complete a request without a response, so the sweep removes the file.
      const reason = 'The file could not be stored. Upload it again.';
      throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
    }
    return { id, key, fileName: options.fileName ?? '', ...measured() };
  }

  return {
    put,
    read: ({ id, key }, from = 0) =>
      openContent(key, id, (offset) => storage.get(objectOf(id), offset), from),
    async discard(caller, fileId) {
      // Without a row, the sweep dropped the file before storage had the object.
      if (!(await drop(runtime, caller, fileId))) await storage.remove(objectOf(fileId));
    },
  };
}

/** Maximum concurrent removals of this process, so that failing storage cannot occupy all job slots. */
const MAX_REMOVALS = 32;
const WAIT_MS = 5_000;

/** Deletes dropped objects from storage, then their rows. */
export function fileJobs({ storage }: { storage: StoragePort }): JobHandler[] {
  let runningCount = 0;

  async function run(_runtime: Runtime, { input }: JobOf<typeof REMOVE>): Promise<Result> {
    const { file, platform } = input;
    const caller = serverCallerOf(platform);
    if (runningCount >= MAX_REMOVALS) {
      return { caller, stage: async (ctx) => ctx.later(REMOVE, input, ctx.now + WAIT_MS) };
    }
    runningCount++;
    try {
      await storage.remove(objectOf(file));
    } finally {
      runningCount--;
    }
    return {
      caller,
      async stage(ctx) {
        const row = await ctx.read(files, file);
        if (row) ctx.remove(files, row);
      },
    };
  }

  return [jobHandler(REMOVE, { run })];
}

const SWEEP_EVERY_MS = 60_000;
const BATCH_SIZE = 100;

const UNATTACHED_FILES = `select id, platform_id from files
  where state = 'UPLOADING' and created_at < $1 order by created_at limit ${BATCH_SIZE}`;

/**
 * Drops uploads that were never attached, because the client has disconnected or the receiving
 * process has exited.
 */
export function fileSweep(): Sweep {
  let nextTime: Time = 0;
  return {
    name: 'files.unattached',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextTime) return 0;
      const cutoff = new Date(now - UNATTACHED_MS);
      const rows = await runtime.db.query<{ id: string; platform_id: string }>(UNATTACHED_FILES, [
        cutoff,
      ]);
      const drops = rows.map((row) => drop(runtime, serverCallerOf(row.platform_id), row.id));
      const droppedCount = (await Promise.all(drops)).filter(
        (previousState) => previousState === 'UPLOADING',
      ).length;
      if (rows.length < BATCH_SIZE) nextTime = now + SWEEP_EVERY_MS;
      return droppedCount;
    },
  };
}
