// Moving an internal account from state to state. The status is what a platform is told; the gate of the
// ledger account is what holds: both change in one commit, so no payment slips in between. An account is
// closed only when nothing is in it and nothing of it is under way.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordMove } from '../account-moves/index.ts';
import { type Holding, presentInternalAccount } from './account.ts';
import { statusUpdated } from './contract.ts';
import { type InternalAccountEvent, internalAccountStates, isOpen } from './states.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

// Payments are another feature's table, to the right of this one; its rows are read by SQL alone.
const UNDER_WAY = `select 1 from transactions
  where (source_account = $1 or destination_account = $1)
    and (funds in ('AWAITED', 'FUNDED', 'HELD', 'HANDED', 'PARKED') or refund ->> 'status' = 'PENDING')
  limit 1`;

// Only a platform's own account earns fees, and closing one is rare enough to look through its payments.
const FEES_UNDER_WAY = `select 1 from transactions
  where platform_id = $2 and platform_fee_account = $1
    and (funds in ('AWAITED', 'FUNDED', 'HELD', 'HANDED') or refund ->> 'status' = 'PENDING')
  limit 1`;

/** Throws CONFLICT while a payment from or to the account is under way, or its owner owes us. */
export async function refuseWhileUsed(ctx: Ctx, row: InternalAccountRow): Promise<void> {
  if (row.owed > 0n) throw new Fault('CONFLICT', 'The account still owes money.');
  const under = await ctx.db.query(UNDER_WAY, [row.id]);
  const fees =
    row.customer_id === null ? await ctx.db.query(FEES_UNDER_WAY, [row.id, row.platform_id]) : [];
  if (under.length + fees.length) {
    throw new Fault('CONFLICT', 'A payment of this account is still under way.');
  }
}

const NOTHING: Holding = { balance: 0n, held: 0n };

/** Who moves an account by hand. */
interface Cause {
  actor: string;
  reason: string | null;
}

/**
 * Stages a change of status, the gate that goes with it, and the event, which shows the balance as
 * committed. `cause` is kept beside the account. Closing is refused at commit while the account holds
 * anything.
 */
export function moveInternalAccount(
  ctx: Ctx,
  row: InternalAccountRow,
  event: InternalAccountEvent,
  cause?: Cause,
): InternalAccountRow {
  const status = internalAccountStates.next(row.status, event);
  const was = row.status;
  const moved = ctx.update(internalAccounts, row, { status, updated_at: ctx.now });
  if (event === 'close') ctx.freeze(row.id, { empty: true });
  else if (isOpen(was) && !isOpen(status)) ctx.freeze(row.id);
  else if (!isOpen(was) && isOpen(status)) ctx.unfreeze(row.id);
  if (cause) recordMove(ctx, row, { ...cause, move: event });
  const data = presentInternalAccount(moved, NOTHING);
  ctx.emit(statusUpdated, row.id, data, row.id);
  return moved;
}
