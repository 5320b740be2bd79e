// Account recovery of a wallet at the request of the operator. After a delay that is a setting of
// the server, a job adds a one-time code credential. If a condition is not met, the job cancels the
// recovery. Existing credentials remain, and no funds are transferred.

import { Type } from '@sinclair/typebox';
import { defineJob, PlatformFields } from '../../../kernel/contract/job.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type JobHandler, jobHandler } from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { requireInternalAccount } from '../../balances/internal-accounts/index.ts';
import { digestOf } from '../../customers/digests/index.ts';
import { type CustomerRow, requireCustomer, touchCustomer } from '../../customers/records/index.ts';
import { findMessages } from '../../notifications/messages/index.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { addCredential, contactOf, credentialsOf, sessionsOf } from '../accounts/credentials.ts';
import { findWallet, type Wallet } from '../accounts/wallet.ts';
import { type RecoveryCancelReason, type RecoveryRow, walletRecoveries } from '../store.ts';
import {
  announceRecovery,
  cancelRecovery,
  findPendingRecovery,
  finishRecovery,
  RECOVERED_CONTACT,
  recoveryMessage,
} from './recovery.ts';

export type RecoveryType = RecoveryRow['type'];

const RECOVER = defineJob(
  'wallets.recover',
  Type.Object({ recoveryId: Type.String(), ...PlatformFields }),
);

function stageJob(ctx: Ctx, recoveryId: string, dueAt: number): void {
  const { platformId, environment } = ctx.caller;
  ctx.later(RECOVER, { recoveryId, platformId, environment }, dueAt);
}

const contactDigest = (ctx: Ctx, customer: CustomerRow, type: RecoveryType): string | null =>
  digestOf(ctx.vault, type === 'SMS_OTP' ? 'phone' : 'email', contactOf({ customer }, type));

const conflictFault = (reason: string) => new Fault('CONFLICT', reason);

/** Throws CONFLICT if a recovery is not needed or not possible. */
async function assertRecoverable(ctx: Ctx, wallet: Wallet, type: RecoveryType): Promise<void> {
  const { id } = wallet.row;
  const contact = RECOVERED_CONTACT[type];
  if (contactOf(wallet, type) === null) {
    throw conflictFault(`The customer has no ${contact} on file. The platform can add one.`);
  }
  const credentials = await credentialsOf(ctx, id);
  const existingCredential = credentials.find((row) => row.type === type);
  if (existingCredential) {
    const reason = `The wallet already has this credential. Codes to the ${contact} can be requested`;
    throw conflictFault(`${reason} with a challenge of ${existingCredential.id}.`);
  }
  if (!credentials.length) {
    throw conflictFault(
      'The wallet has no credential. The first one is added without a signature.',
    );
  }
  if ((await sessionsOf(ctx, id)).length) {
    throw conflictFault('The wallet has an active session, which can sign for a new credential.');
  }
  const pendingRecovery = await findPendingRecovery(ctx, id);
  if (pendingRecovery)
    throw conflictFault(`The recovery ${pendingRecovery.id} is already pending for this wallet.`);
}

export interface NewRecovery {
  accountId: string;
  type: RecoveryType;
  /** Requester and reason. */
  actor: string;
  reason: string;
  delayMs: number;
}

/** Stages a recovery, its announcements and its job. */
export async function startRecovery(ctx: Ctx, input: NewRecovery): Promise<RecoveryRow> {
  const { accountId, type, actor, reason, delayMs } = input;
  const wallet = await findWallet(ctx, accountId);
  if (!wallet) throw conflictFault('The wallet is closed, or its customer was deleted.');
  await assertRecoverable(ctx, wallet, type);
  // A concurrent change of the contact retries the operation.
  requireCustomer(ctx, wallet.customer);
  const row = ctx.insert(walletRecoveries, {
    id: ctx.id('WalletRecovery'),
    platform_id: ctx.caller.platformId,
    account_id: wallet.row.id,
    customer_id: wallet.customer.id,
    type,
    status: 'WAITING',
    contact_digest: contactDigest(ctx, wallet.customer, type),
    actor,
    reason,
    due_at: ctx.now + delayMs,
    created_at: ctx.now,
  });
  await announceRecovery(ctx, wallet.customer, row, 'STARTED');
  stageJob(ctx, row.id, row.due_at);
  return row;
}

// Includes a session that was opened concurrently with the start of the recovery and did not cancel
// it.
const SIGNED_IN_SQL = `select 1 from wallet_sessions where account_id = $1 and expires_at > $2
  and (status = 'ACTIVE' or updated_at >= $2) limit 1`;

async function isAnnounced(ctx: Ctx, { customer_id, created_at }: RecoveryRow): Promise<boolean> {
  const kind = recoveryMessage('STARTED');
  const announcements = await findMessages(ctx.db, { customer_id, kind, created_at });
  return announcements.some(({ status }) => status === 'SENT' || status === 'KEPT');
}

/** The reason to cancel a due recovery, or undefined to finish it. */
async function findCancelReason(
  ctx: Ctx,
  row: RecoveryRow,
  wallet: Wallet | undefined,
): Promise<RecoveryCancelReason | undefined> {
  if (!wallet) return 'WALLET_GONE';
  const digest = contactDigest(ctx, wallet.customer, row.type);
  if (digest === null || digest !== row.contact_digest) return 'CONTACT_CHANGED';
  const credentials = await credentialsOf(ctx, row.account_id);
  if (credentials.some(({ type }) => type === row.type)) return 'CREDENTIAL_THERE';
  const requestedAt = new Date(row.created_at);
  if ((await ctx.db.query(SIGNED_IN_SQL, [row.account_id, requestedAt])).length) return 'SIGNED_IN';
  return (await isAnnounced(ctx, row)) ? undefined : 'NOT_ANNOUNCED';
}

/**
 * Finishes or cancels a due recovery, or reschedules it if `delayMs` has not elapsed since the
 * request.
 */
async function recover(ctx: Ctx, id: string, delayMs: number | undefined): Promise<void> {
  const row = await ctx.read(walletRecoveries, id);
  if (row?.status !== 'WAITING') return;
  if (delayMs === undefined) {
    await cancelRecovery(ctx, row, 'SWITCHED_OFF');
    return;
  }
  const due_at = row.created_at + delayMs;
  if (ctx.now < due_at) {
    ctx.update(walletRecoveries, row, { due_at });
    stageJob(ctx, id, due_at);
    return;
  }
  const wallet = await findWallet(ctx, row.account_id);
  const reason = await findCancelReason(ctx, row, wallet);
  if (reason !== undefined || !wallet) {
    await cancelRecovery(ctx, row, reason ?? 'WALLET_GONE');
    return;
  }
  // An empty update, so that a concurrent change of the contact retries and then requires a
  // signature.
  touchCustomer(ctx, wallet.customer);
  requireInternalAccount(ctx, wallet.account);
  addCredential(ctx, wallet, { type: row.type, uniquenessKey: row.type });
  await finishRecovery(ctx, row);
}

/** The job that finishes or cancels a recovery. `delayMs` is undefined if recovery is disabled. */
export const recoveryJobs = ({ delayMs }: { delayMs: number | undefined }): JobHandler[] => [
  jobHandler(RECOVER, {
    run: async (_runtime, job) => {
      const { recoveryId, platformId, environment } = job.input;
      const caller = systemCaller(platformId, environment);
      return { caller, stage: (ctx) => recover(ctx, recoveryId, delayMs) };
    },
  }),
];
