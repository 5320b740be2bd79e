// Status transitions of internal accounts. The freeze of the ledger account enforces the status
// that the API shows. Status and freeze change in one commit, so no payment can occur between the
// two changes. An account can be closed if it is empty, has no shortfall, and none of its payments
// is in progress.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { recordAccountAction } from '../account-actions/index.ts';
import { type Holding, presentInternalAccount } from './account.ts';
import { statusUpdated } from './contract.ts';
import { type InternalAccountEvent, internalAccountStates, isOpen } from './states.ts';
import { type InternalAccountRow, internalAccounts } from './store.ts';

/** Payments of an account, provided by a later feature. */
export interface PaymentsOfAccount {
  /**
   * Whether a payment from the account, to the account or with a fee for the account is in
   * progress.
   */
  isPaymentInProgress(
    ctx: Ctx,
    account: Pick<InternalAccountRow, 'id' | 'platform_id' | 'customer_id'>,
  ): Promise<boolean>;
}

/** Throws CONFLICT if the account has a shortfall or a payment in progress. */
export async function checkClosable(
  ctx: Ctx,
  { isPaymentInProgress }: PaymentsOfAccount,
  row: InternalAccountRow,
): Promise<void> {
  if (row.owed > 0n) {
    const reason = 'The account has an outstanding shortfall. Settle the shortfall first.';
    throw new Fault('CONFLICT', reason);
  }
  if (await isPaymentInProgress(ctx, row)) {
    const reason = 'A payment of the account is in progress. Retry after its completion.';
    throw new Fault('CONFLICT', reason);
  }
}

const EMPTY_HOLDING: Holding = { balance: 0n, held: 0n };

/** Actor and reason of a manual transition. */
interface Cause {
  actor: string;
  reason: string | null;
}

/**
 * Stages a status with its freeze or unfreeze and the event. The event shows the committed balance.
 * `cause` is recorded as an account action. The commit rejects the closure of an account that is
 * not empty.
 */
export function transitionInternalAccount(
  ctx: Ctx,
  row: InternalAccountRow,
  event: InternalAccountEvent,
  cause?: Cause,
): InternalAccountRow {
  const status = internalAccountStates.next(row.status, event);
  const previousStatus = row.status;
  const updatedAccount = ctx.update(internalAccounts, row, { status, updated_at: ctx.now });
  if (event === 'close') ctx.freeze(row.id, { empty: true });
  else if (isOpen(previousStatus) && !isOpen(status)) ctx.freeze(row.id);
  else if (!isOpen(previousStatus) && isOpen(status)) ctx.unfreeze(row.id);
  if (cause) recordAccountAction(ctx, row, { ...cause, action: event });
  const data = presentInternalAccount(updatedAccount, EMPTY_HOLDING);
  ctx.emit(statusUpdated, row.id, data, row.id);
  return updatedAccount;
}
