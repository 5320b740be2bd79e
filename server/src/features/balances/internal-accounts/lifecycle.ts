// Moving an internal account from state to state. The status is what a platform is told; the gate of the
// ledger account is what holds: both change in one commit, so no payment slips in between. An account is
// closed only when nothing is in it and nothing of it is under way.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordAccountAction } from '../account-actions/index.ts';
import { type Holding, presentInternalAccount } from './account.ts';
import { statusUpdated } from './contract.ts';
import { type InternalAccountEvent, internalAccountStates, isOpen } from './states.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

/** Payments of an account, which are a later feature's. */
export interface PaymentsOfAccount {
  /** Whether a payment from or to the account, or one that pays it a fee, is under way. */
  isPaymentUnderWay(
    ctx: Ctx,
    account: Pick<InternalAccountRow, 'id' | 'platform_id' | 'customer_id'>,
  ): Promise<boolean>;
}

/** Throws CONFLICT while a payment of the account is under way, or its owner owes us. */
export async function checkClosable(
  ctx: Ctx,
  { isPaymentUnderWay }: PaymentsOfAccount,
  row: InternalAccountRow,
): Promise<void> {
  if (row.owed > 0n) throw new Fault('CONFLICT', 'The account has an outstanding shortfall.');
  if (await isPaymentUnderWay(ctx, row)) {
    throw new Fault('CONFLICT', 'A payment of the account is in progress.');
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
export function transitionInternalAccount(
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
  if (cause) recordAccountAction(ctx, row, { ...cause, action: event });
  const data = presentInternalAccount(moved, NOTHING);
  ctx.emit(statusUpdated, row.id, data, row.id);
  return moved;
}
