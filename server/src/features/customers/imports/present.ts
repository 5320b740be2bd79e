// Imports as the API and the event show them.
import { iso } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type ImportView, MOST_ERRORS } from './contract.ts';
import { type ImportErrorRow, type ImportRow, importErrors } from './store.ts';

type Shown = Pick<ImportErrorRow, 'correlation_id' | 'code' | 'message' | 'details'>;

/** What a problem with the whole file goes by. */
export const FILE = 'file';

const presentError = ({ correlation_id, code, message, details }: Shown) => ({
  correlationId: correlation_id,
  code,
  message,
  reason: message,
  details,
});

export const isOver = ({ status }: Pick<ImportRow, 'status'>): boolean =>
  status === 'COMPLETED' || status === 'FAILED';

/** The resource. `more` are errors of rows that this very change set adds to those that are stored. */
export async function importView(
  { db }: Pick<Ctx, 'db'>,
  row: ImportRow,
  more: readonly Shown[] = [],
): Promise<ImportView> {
  const limit = MOST_ERRORS;
  const options = { orderBy: 'row', limit } as const;
  const stored = await db.find(importErrors, { import_id: row.id }, options);
  const { problem } = row;
  const whole: Shown[] = problem
    ? [
        {
          correlation_id: FILE,
          code: 'INVALID_INPUT',
          message: problem.message,
          details: { errors: problem.errors },
        },
      ]
    : [];
  const errors = [...whole, ...stored, ...more].slice(0, limit);
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
