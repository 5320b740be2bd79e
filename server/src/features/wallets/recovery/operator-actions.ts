// Operator functions for account recovery: request, cancel and list. The job of a running server
// finishes a recovery. Every contact of the user is notified.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { walletById } from '../operator-views.ts';
import { type RecoveryRow, walletRecoveries } from '../store.ts';
import { cancelRecovery } from './recovery.ts';
import { type NewRecovery, startRecovery } from './recovery-jobs.ts';

const presentRecovery = (row: RecoveryRow) => ({
  recoveryId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  accountId: row.account_id,
  type: row.type,
  status: row.status,
  actor: row.actor,
  reason: row.reason,
  cancelledFor: row.cancelled_for,
  cancelledBy: row.cancelled_by,
  createdAt: iso(row.created_at),
  dueAt: iso(row.due_at),
  endedAt: row.ended_at === null ? null : iso(row.ended_at),
});

type WalletRecovery = ReturnType<typeof presentRecovery>;

/** Requests a delayed recovery of a wallet and announces it. Throws NOT_FOUND and CONFLICT. */
export async function requestWalletRecovery(
  runtime: Runtime,
  input: NewRecovery,
): Promise<WalletRecovery> {
  const { platform_id } = await walletById(runtime.db, input.accountId);
  const caller = await callerOf(runtime.db, platform_id);
  return presentRecovery(await operate(runtime, caller, (ctx) => startRecovery(ctx, input)));
}

async function recoveryById({ read }: Pick<Ctx, 'read'>, id: string): Promise<RecoveryRow> {
  const row = isId(id, 'WalletRecovery') ? await read(walletRecoveries, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Recovery not found.');
  return row;
}

/** Cancels a pending recovery. Throws NOT_FOUND and CONFLICT. */
export async function cancelWalletRecovery(
  runtime: Runtime,
  { recoveryId, actor }: { recoveryId: string; actor: string },
): Promise<WalletRecovery> {
  const { platform_id } = await recoveryById(runtime.db, recoveryId);
  const caller = await callerOf(runtime.db, platform_id);
  const canceledRecovery = await operate(runtime, caller, async (ctx) => {
    const row = await recoveryById(ctx, recoveryId);
    if (row.status !== 'WAITING') {
      const reason = `The recovery is ${row.status}. Only a WAITING recovery can be canceled.`;
      throw new Fault('CONFLICT', reason);
    }
    return cancelRecovery(ctx, row, 'OPERATOR', actor);
  });
  return presentRecovery(canceledRecovery);
}

interface SearchInput extends PageInput {
  platformId?: string | undefined;
  status?: string | undefined;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

/**
 * A page of recoveries, latest first, optionally filtered by platform and status. Throws NOT_FOUND
 * if `after` is unknown.
 */
export async function searchWalletRecoveries(
  { db }: Runtime,
  { platformId, status, after, cursor: pageCursor, limit }: SearchInput,
) {
  const filters = equals({ platform_id: platformId, status });
  const cursor = after === undefined ? pageCursor : cursorOf(await recoveryById(db, after));
  const { rows, ...rest } = await db.page(walletRecoveries, {
    filters,
    sort: 'desc',
    limit,
    cursor,
  });
  return { data: rows.map(presentRecovery), ...rest };
}
