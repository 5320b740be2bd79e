// Operations to upload a file of customers and to get the progress of an import.

import type { UploadedFile } from '../../../kernel/contract/upload.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { attachFile } from '../../../runtime/files/files.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { getBulkCustomerImportJob, uploadCustomersCsv } from './contract.ts';
import { IMPORT_SLICE, keyContext } from './jobs.ts';
import { importView } from './present.ts';
import type { FileFindings } from './scan.ts';
import { type ImportRow, imports } from './store.ts';

async function createImport(ctx: Ctx, file: UploadedFile): Promise<ImportRow> {
  const { rows, columns, start, problem } = file.findings as FileFindings;
  const id = ctx.id('BulkCustomerImportJob');
  // A rejected file is not stored.
  if (!problem) await attachFile(ctx, file);
  ctx.later(IMPORT_SLICE, { importId: id });
  return ctx.insert(imports, {
    id,
    platform_id: ctx.caller.platformId,
    status: 'PENDING',
    file_id: problem ? null : file.id,
    file_key: problem ? null : ctx.vault.sealOwn(file.key, keyContext(id)),
    columns,
    problem,
    total: rows,
    next_byte: BigInt(start),
    successful: 0,
    failed: 0,
    created_at: ctx.now,
  });
}

export const importOperations = [
  handle(uploadCustomersCsv, async (ctx, { body }) => {
    const row = await createImport(ctx, body.file);
    return { status: 202, body: { jobId: row.id, status: 'PENDING' as const } };
  }),

  handle(getBulkCustomerImportJob, async (ctx, { params }) => {
    const { jobId } = params;
    const row = isId(jobId, 'BulkCustomerImportJob') ? await ctx.read(imports, jobId) : undefined;
    if (row?.platform_id !== ctx.caller.platformId) {
      throw new Fault('BULK_UPLOAD_JOB_NOT_FOUND', 'Import not found.');
    }
    return { status: 200, body: await importView(ctx, row) };
  }),
];
