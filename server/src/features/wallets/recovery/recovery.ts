// Delayed account recovery for users who have lost every credential: announcements and completion.
// Every contact on file is notified of the start and the result, so that the holder can object. A
// verified credential cancels the recovery.

import { UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type CustomerRow, readCustomer } from '../../customers/records/index.ts';
import {
  recoveryCancelledText,
  recoveryDoneText,
  recoveryStartedText,
  sendMessage,
} from '../../notifications/messages/index.ts';
import { walletSenderOf } from '../../tenancy/config/index.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { recoveryStates } from '../states.ts';
import { type RecoveryCancelReason, type RecoveryRow, walletRecoveries } from '../store.ts';

const NOTICES = {
  STARTED: recoveryStartedText,
  DONE: recoveryDoneText,
  CANCELLED: recoveryCancelledText,
};
type Notice = keyof typeof NOTICES;

/** Message kind of a recovery notice. */
export const recoveryMessage = (notice: Notice) => `WALLET_RECOVERY_${notice}` as const;

/** Display names of the contacts. */
export const RECOVERED_CONTACT = { EMAIL_OTP: 'e-mail address', SMS_OTP: 'telephone number' };

/**
 * Stages a message to every contact of the customer. Without a provider for a channel, its message
 * fails. The operator API returns the failure.
 */
export async function announceRecovery(
  ctx: Ctx,
  customer: CustomerRow,
  row: Pick<RecoveryRow, 'type' | 'created_at' | 'due_at'>,
  notice: Notice,
): Promise<void> {
  const { platformName, mail } = walletSenderOf(await readOwnPlatform(ctx));
  const text = NOTICES[notice]({
    platformName,
    contact: RECOVERED_CONTACT[row.type],
    requestedAt: row.created_at,
    dueAt: row.due_at,
  });
  // The announcement is obsolete once the recovery is due.
  const commonFields = {
    kind: recoveryMessage(notice),
    customer,
    ...text,
    ...(notice === 'STARTED' ? { expiresAt: row.due_at } : {}),
  };
  const { email, phone } = customer;
  if (email !== null) sendMessage(ctx, { channel: 'EMAIL', to: email, ...commonFields, ...mail });
  if (phone !== null) sendMessage(ctx, { channel: 'SMS', to: phone, ...commonFields });
}

/** Stages the result of a recovery and notifies the contacts. */
async function closeRecovery(
  ctx: Ctx,
  row: RecoveryRow,
  event: 'finish' | 'cancel',
  cancellation: { cancelled_for?: RecoveryCancelReason; cancelled_by?: string | null } = {},
): Promise<RecoveryRow> {
  const customer = await readCustomer(ctx, row.customer_id);
  // Erased customers have no contacts.
  if (customer && customer.data_key !== null) {
    await announceRecovery(ctx, customer, row, event === 'finish' ? 'DONE' : 'CANCELLED');
  }
  const status = recoveryStates.next(row.status, event);
  const endColumns = { status, contact_digest: null, ended_at: ctx.now };
  return ctx.update(walletRecoveries, row, { ...endColumns, ...cancellation });
}

export const finishRecovery = (ctx: Ctx, row: RecoveryRow): Promise<RecoveryRow> =>
  closeRecovery(ctx, row, 'finish');

/** Stages the cancellation. `cancelledBy` is absent without an operator. */
export const cancelRecovery = (
  ctx: Ctx,
  row: RecoveryRow,
  reason: RecoveryCancelReason,
  cancelledBy?: string,
): Promise<RecoveryRow> =>
  closeRecovery(ctx, row, 'cancel', { cancelled_for: reason, cancelled_by: cancelledBy ?? null });

/** The pending recovery of a wallet, which has at most one. */
export async function findPendingRecovery(
  ctx: Ctx,
  accountId: string,
): Promise<RecoveryRow | undefined> {
  const filter = { account_id: accountId, status: 'WAITING' } as const;
  return (await ctx.db.find(walletRecoveries, filter))[0];
}

/** Cancels a pending recovery. To be called after a credential of the wallet was verified. */
export async function cancelAfterSignIn(ctx: Ctx, accountId: string): Promise<void> {
  const row = await findPendingRecovery(ctx, accountId);
  if (row) await cancelRecovery(ctx, row, 'SIGNED_IN');
}

/** Stages the cancellation of pending recoveries for an erasure, without notices. */
export async function eraseRecoveries(ctx: Ctx, customerId: string): Promise<void> {
  const filter = { customer_id: customerId, status: 'WAITING' } as const;
  for (const row of await ctx.db.find(walletRecoveries, filter, UNPAGED)) {
    ctx.update(walletRecoveries, row, {
      status: recoveryStates.next(row.status, 'cancel'),
      contact_digest: null,
      cancelled_for: 'WALLET_GONE',
      ended_at: ctx.now,
    });
  }
}
