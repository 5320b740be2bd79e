// The life of a factor reset. Somebody shows to be the customer, before a camera where a service looks and to
// a person otherwise; then the factor may be cleared. Whatever ends a reset also ends the link that it had.
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
import { type By, noteScaEvent, type ScaEventType } from '../../events/index.ts';
import type { ScaFactorName } from '../contract.ts';
import { type ResetStatus, resetStates } from '../states.ts';
import { type ResetRow, scaResets } from '../store.ts';

const WINDOW_MS = 30 * 60_000;
/** Where a person decides, who has to be reached first. */
const REVIEW_MS = 24 * 3_600_000;

/** Ends a reset that was not completed. */
const EXPIRE = defineJob(
  'sca.expire-reset',
  Type.Object({ resetId: Type.String(), ...PlatformFields }),
);

function expireLater(ctx: Ctx, resetId: string, at: Time): void {
  const { platformId, environment } = ctx.caller;
  ctx.later(EXPIRE, { resetId, platformId, environment }, at);
}

type Move = Parameters<typeof resetStates.next>[1];

const OPEN: readonly ResetStatus[] = ['INITIATED', 'PENDING_REVIEW', 'LIVENESS_PASSED'];
const EVENTS: Partial<Record<Move, ScaEventType>> = {
  pass: 'RESET_PASSED',
  reject: 'RESET_REJECTED',
  expire: 'RESET_EXPIRED',
  complete: 'RESET_COMPLETED',
};

export const isOpen = ({ status }: Pick<ResetRow, 'status'>): boolean => OPEN.includes(status);

interface Moved extends Partial<Pick<ResetRow, 'expires_at' | 'completed_at' | 'enrollment'>> {
  /** The operator who decided, if one did. */
  by?: By;
}

/** Stages a move with the event about it. */
export function moveReset(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  move: Move,
  { by, ...patch }: Moved = {},
): ResetRow {
  const status = resetStates.next(row.status, move);
  const moved = ctx.update(scaResets, row, {
    ...patch,
    status,
    token_hash: null,
    updated_at: ctx.now,
  });
  const type = EVENTS[move];
  if (type) noteScaEvent(ctx, customer, type, { factor: row.factor, subject: row.id, by });
  return moved;
}

/** Stages that open resets of the factor are no more: a newer one takes their place. */
async function endOpen(ctx: Ctx, customer: CustomerRow, factor: ScaFactorName): Promise<void> {
  const found = await Promise.all(
    OPEN.map((status) => ctx.db.find(scaResets, { customer_id: customer.id, factor, status })),
  );
  for (const row of found.flat()) moveReset(ctx, customer, row, 'expire');
}

/**
 * Stages a reset and the job that ends it. `token` is the secret of its link, once; absent where no service
 * looks at people and one of the operator's does.
 */
export async function openReset(
  ctx: Ctx,
  { liveness }: Connectors,
  customer: CustomerRow,
  factor: ScaFactorName,
): Promise<{ row: ResetRow; token?: string }> {
  await endOpen(ctx, customer, factor);
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
  noteScaEvent(ctx, customer, 'RESET_STARTED', { factor, subject: row.id });
  expireLater(ctx, row.id, row.expires_at);
  if (token) return { row, token };
  return { row: moveReset(ctx, customer, row, 'review') };
}

/** The check as the connector knows it. */
export const checkOf = (row: ResetRow): LivenessCheck => ({
  id: row.id,
  subject: { type: 'CUSTOMER', customerId: row.customer_id, polls: row.polls },
  startedAt: row.created_at,
});

/** Stages what came of the check; a reset that is not INITIATED any more is left as it is. */
export function heedLiveness(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  { state }: LivenessProgress,
): ResetRow {
  if (row.status !== 'INITIATED' || state === 'waiting') return row;
  return moveReset(ctx, customer, row, state === 'passed' ? 'pass' : 'reject');
}

/** The reset as it stands now: one whose time is over is EXPIRED, whether or not its job has run. */
export const settledReset = (ctx: Ctx, customer: CustomerRow, row: ResetRow): ResetRow =>
  isOpen(row) && ctx.now >= row.expires_at ? moveReset(ctx, customer, row, 'expire') : row;

/** Stages that the operator has seen the customer, who gets time to go on, or that it was not the one. */
export function decideReset(
  ctx: Ctx,
  customer: CustomerRow,
  row: ResetRow,
  move: 'pass' | 'reject',
  by: By,
): ResetRow {
  if (move === 'reject') return moveReset(ctx, customer, row, move, { by });
  const expires_at = ctx.now + REVIEW_MS;
  expireLater(ctx, row.id, expires_at);
  return moveReset(ctx, customer, row, move, { by, expires_at });
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
  if (customer) settledReset(ctx, customer, row);
}

/** Handlers of the jobs; list them where the worker is built. */
export const resetJobs = (): JobHandler[] => [
  jobHandler(EXPIRE, {
    run: async (_runtime, { input }) => {
      const caller = systemCaller(input.platformId, input.environment);
      return { caller, stage: (ctx) => expire(ctx, input.resetId) };
    },
  }),
];
