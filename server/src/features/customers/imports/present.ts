// Maps imports to the API resource and the event.
import { iso } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type ImportView, MAX_ERRORS } from './contract.ts';
import { type ImportErrorRow, type ImportRow, importErrors } from './store.ts';

type ErrorFields = Pick<ImportErrorRow, 'correlation_id' | 'code' | 'message' | 'details'>;

/** `correlationId` of an error of the complete file. */
export const FILE_CORRELATION_ID = 'file';

const presentError = ({ correlation_id, code, message, details }: ErrorFields) => ({
  correlationId: correlation_id,
  code,
  message,
  reason: message,
  details,
});

export const isFinished = ({ status }: Pick<ImportRow, 'status'>): boolean =>
  status === 'COMPLETED' || status === 'FAILED';

/** API resource of an import. `stagedErrors` are errors that this change set adds. */
export async function importView(
  { db }: Pick<Ctx, 'db'>,
  row: ImportRow,
  stagedErrors: readonly ErrorFields[] = [],
): Promise<ImportView> {
  const limit = MAX_ERRORS;
  const options = { orderBy: 'row', limit } as const;
  const storedImportErrors = await db.find(importErrors, { import_id: row.id }, options);
  const { problem } = row;
  const fileErrors: ErrorFields[] = problem
    ? [
        {
          correlation_id: FILE_CORRELATION_ID,
          code: 'INVALID_INPUT',
          message: problem.message,
          details: { errors: problem.errors },
        },
      ]
    : [];
  const errors = [...fileErrors, ...storedImportErrors, ...stagedErrors].slice(0, limit);
  return {
    id: row.id,
    status: row.status,
    progress: {
      total: row.total,
      processed: row.successful + row.failed,
      successful: row.successful,
      failed: row.failed,
    },
    ...(errors.length ? { errors: errors.map(presentError) } : {}),
    ...(row.completed_at === null ? {} : { completedAt: iso(row.completed_at) }),
  };
}
