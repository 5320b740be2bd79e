// A way back for a user who can prove no credential of their wallet, apart from how it comes about: whom it
// is announced to, and how it ends. It is told to every contact on file when it begins and when it ends, so
// that it cannot happen behind the holder's back; and whoever proves a credential has no need of it.

import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type CustomerRow, readCustomer } from '../../customers/records/index.ts';
import {
  recoveryCancelledText,
  recoveryDoneText,
  recoveryStartedText,
  sendMessage,
} from '../../notifications/messages/index.ts';
import { walletSenderOf } from '../../tenancy/config/index.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import { recoveryStates } from '../states.ts';
import { type RecoveryCancelReason, type RecoveryRow, walletRecoveries } from '../store.ts';

const NOTICES = {
  STARTED: recoveryStartedText,
  DONE: recoveryDoneText,
  CANCELLED: recoveryCancelledText,
};
type Notice = keyof typeof NOTICES;

/** What messages that announce a recovery are about, for those who look at the list. */
export const recoveryMessage = (notice: Notice) => `WALLET_RECOVERY_${notice}` as const;

/** What codes go to, for a person. */
export const RECOVERED_CONTACT = { EMAIL_OTP: 'email address', SMS_OTP: 'telephone number' };

/**
 * Stages a message to every contact that the customer has on file. Where nobody carries one of them it
 * fails, and the operator sees that.
 */
export async function announceRecovery(
  ctx: Ctx,
  customer: CustomerRow,
  row: Pick<RecoveryRow, 'type' | 'created_at' | 'due_at'>,
  notice: Notice,
): Promise<void> {
  const { named, mail } = walletSenderOf(await ownPlatform(ctx));
  const text = NOTICES[notice]({
    platformName: named,
    contact: RECOVERED_CONTACT[row.type],
    requestedAt: row.created_at,
    dueAt: row.due_at,
  });
  // What says that something is going to happen is of no use once it has.
  const common = {
    kind: recoveryMessage(notice),
    customer,
    ...text,
    ...(notice === 'STARTED' ? { expiresAt: row.due_at } : {}),
  };
  const { email, phone } = customer;
  if (email !== null) sendMessage(ctx, { channel: 'EMAIL', to: email, ...common, ...mail });
  if (phone !== null) sendMessage(ctx, { channel: 'SMS', to: phone, ...common });
}

/** Stages the end of a recovery and tells whoever is still on file. */
async function endRecovery(
  ctx: Ctx,
  row: RecoveryRow,
  event: 'finish' | 'cancel',
  stopped: { cancelled_for?: RecoveryCancelReason; cancelled_by?: string | null } = {},
): Promise<RecoveryRow> {
  const customer = await readCustomer(ctx, row.customer_id);
  // Nobody can be told any more who was erased.
  if (customer && customer.data_key !== null) {
    await announceRecovery(ctx, customer, row, event === 'finish' ? 'DONE' : 'CANCELLED');
  }
  const status = recoveryStates.next(row.status, event);
  const over = { status, contact_digest: null, ended_at: ctx.now };
  return ctx.update(walletRecoveries, row, { ...over, ...stopped });
}

export const finishRecovery = (ctx: Ctx, row: RecoveryRow): Promise<RecoveryRow> =>
  endRecovery(ctx, row, 'finish');

/** `by` is the person who stopped it, where one did. */
export const cancelRecovery = (
  ctx: Ctx,
  row: RecoveryRow,
  why: RecoveryCancelReason,
  by?: string,
): Promise<RecoveryRow> =>
  endRecovery(ctx, row, 'cancel', { cancelled_for: why, cancelled_by: by ?? null });

/** The recovery of a wallet that waits; there is one at most. */
export async function pendingRecovery(
  ctx: Ctx,
  accountId: string,
): Promise<RecoveryRow | undefined> {
  const where = { account_id: accountId, status: 'WAITING' } as const;
  return (await ctx.db.find(walletRecoveries, where))[0];
}

/** To be called when a credential of the wallet was proved: its user is not without one. */
export async function cancelAfterSignIn(ctx: Ctx, accountId: string): Promise<void> {
  const row = await pendingRecovery(ctx, accountId);
  if (row) await cancelRecovery(ctx, row, 'SIGNED_IN');
}

/** Stages the end of what waits for somebody who is being erased; nobody is told. */
export async function eraseRecoveries(ctx: Ctx, customerId: string): Promise<void> {
  const where = { customer_id: customerId, status: 'WAITING' } as const;
  for (const row of await ctx.db.find(walletRecoveries, where, ALL_OF_ONE)) {
    ctx.update(walletRecoveries, row, {
      status: recoveryStates.next(row.status, 'cancel'),
      contact_digest: null,
      cancelled_for: 'WALLET_GONE',
      ended_at: ctx.now,
    });
  }
}
