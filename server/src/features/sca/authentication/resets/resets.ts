// Lifecycle of factor resets. The customer confirms their identity by a liveness check, or in a manual review
// without a liveness service. The factor may then be removed. Every transition invalidates the link.
import { Type } from '@sinclair/typebox';
import type {
  Connectors,
  LivenessCheck,
  LivenessProgress,
} from '../../../../connectors/ports/index.ts';
import { defineJob, PlatformFields } from '../../../../kernel/contract/job.ts';
import { iso, type Time } from '../../../../kernel/effects.ts';
import { type JobHandler, jobHandler } from '../../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { randomText, sha256Hex } from '../../../../runtime/security/crypto.ts';
import { type CustomerRow, readCustomer } from '../../../customers/records/index.ts';
import { systemCaller } from '../../../tenancy/platform/index.ts';
import { type OperatorCause, recordScaEvent, type ScaEventType } from '../../events/index.ts';
import type { ScaFactorName } from '../contract.ts';
import { type ResetStatus, resetStates } from '../states.ts';
import { type ResetRow, scaResets } from '../store.ts';

/** Validity of a reset with a liveness check. */
const WINDOW_MS = 30 * 60_000;
/** Validity of a reset with a manual review, from its start and from its approval. */
const REVIEW_MS = 24 * 3_600_000;

/** Expires a reset that was not completed. */
const EXPIRE = defineJob(
  'sca.expire-reset',
  Type.Object({ resetId: Type.String(), ...PlatformFields }),
);

function scheduleExpiry(ctx: Ctx, resetId: string, expiresAt: Time): void {
  const { platformId, environment } = ctx.caller;
  ctx.later(EXPIRE, { resetId, platformId, environment }, expiresAt);
}

type ResetEvent = Parameters<typeof resetStates.next>[1];

const OPEN_STATUSES: readonly ResetStatus[] = ['INITIATED', 'PENDING_REVIEW', 'LIVENESS_PASSED'];
const EVENTS: Partial<Record<ResetEvent, ScaEventType>> = {
  pass: 'RESET_PASSED',
  reject: 'RESET_REJECTED',
  expire: 'RESET_EXPIRED',
  complete: 'RESET_COMPLETED',
};

export const isOpen = ({ status }: Pick<ResetRow, 'status'>): boolean =>
  OPEN_STATUSES.includes(status);

interface ResetPatch extends Partial<Pick<ResetRow, 'expires_at' | 'completed_at' | 'enrollment'>> {
  /** The operator who decided. Absent without a decision of an operator. */
  by?: OperatorCause;
}

/** Stages a transition and its audit event. `review` has no audit event. */
export function transitionReset(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  event: ResetEvent,
  { by, ...patch }: ResetPatch = {},
): ResetRow {
  const status = resetStates.next(row.status, event);
  const updatedReset = ctx.update(scaResets, row, {
    ...patch,
    status,
    token_hash: null,
    updated_at: ctx.now,
  });
  const type = EVENTS[event];
  if (type) recordScaEvent(ctx, customer, type, { factor: row.factor, subject: row.id, by });
  return updatedReset;
}

/** Stages the expiry of open resets of the factor, which a new reset replaces. */
async function expireOpenResets(
  ctx: Ctx,
  customer: CustomerRow,
  factor: ScaFactorName,
): Promise<void> {
  const openResets = await Promise.all(
    OPEN_STATUSES.map((status) =>
      ctx.db.find(scaResets, { customer_id: customer.id, factor, status }),
    ),
  );
  for (const row of openResets.flat()) transitionReset(ctx, customer, row, 'expire');
}

/**
 * Stages a reset and its expiry job. `token` is the secret of the link and is returned once. Absent for a
 * manual review.
 */
export async function openReset(
  ctx: Ctx,
  { liveness }: Connectors,
  customer: CustomerRow,
  factor: ScaFactorName,
): Promise<{ row: ResetRow; token?: string }> {
  await expireOpenResets(ctx, customer, factor);
  const token = liveness && randomText(ctx.effects, '');
  const row = ctx.insert(scaResets, {
    id: ctx.id('ScaReset'),
    platform_id: ctx.caller.platformId,
    customer_id: customer.id,
    factor,
    status: 'INITIATED',
    token_hash: token ? sha256Hex(token) : null,
    polls: 0,
    expires_at: ctx.now + (token ? WINDOW_MS : REVIEW_MS),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  recordScaEvent(ctx, customer, 'RESET_STARTED', { factor, subject: row.id });
  scheduleExpiry(ctx, row.id, row.expires_at);
  if (token) return { row, token };
  return { row: transitionReset(ctx, customer, row, 'review') };
}

/** The liveness check for the connector. */
export const checkOf = (row: ResetRow): LivenessCheck => ({
  id: row.id,
  subject: { type: 'CUSTOMER', customerId: row.customer_id, polls: row.polls },
  startedAt: row.created_at,
});

/** Stages the result of the check. Has no effect unless the reset is INITIATED. */
export function applyLiveness(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  { state }: LivenessProgress,
): ResetRow {
  if (row.status !== 'INITIATED' || state === 'waiting') return row;
  return transitionReset(ctx, customer, row, state === 'passed' ? 'pass' : 'reject');
}

/** Applies the expiry, even if the expiry job has not run yet. */
export const expireIfDue = (ctx: Ctx, customer: CustomerRow, row: ResetRow): ResetRow =>
  isOpen(row) && ctx.now >= row.expires_at ? transitionReset(ctx, customer, row, 'expire') : row;

/** Stages the decision of the operator. `pass` extends the expiry, so that the customer can continue. */
export function decideReset(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  event: 'pass' | 'reject',
  cause: OperatorCause,
): ResetRow {
  if (event === 'reject') return transitionReset(ctx, customer, row, event, { by: cause });
  const expires_at = ctx.now + REVIEW_MS;
  scheduleExpiry(ctx, row.id, expires_at);
  return transitionReset(ctx, customer, row, event, { by: cause, expires_at });
}

/** The resource `TwoFactorResetStatus`. */
export const presentReset = (row: ResetRow) => ({
  status: row.status,
  factor: row.factor,
  enrollmentStatus: row.enrollment,
  expiresAt: iso(row.expires_at),
  completedAt: row.completed_at === null ? null : iso(row.completed_at),
});

async function expire(ctx: Ctx, resetId: string): Promise<void> {
  const row = await ctx.read(scaResets, resetId);
  const customer = row && (await readCustomer(ctx, row.customer_id));
  if (customer) expireIfDue(ctx, customer, row);
}

export const resetJobs = (): JobHandler[] => [
  jobHandler(EXPIRE, {
    run: async (_runtime, { input }) => {
      const caller = systemCaller(input.platformId, input.environment);
      return { caller, stage: (ctx) => expire(ctx, input.resetId) };
    },
  }),
];
