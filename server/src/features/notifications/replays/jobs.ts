// Processes a replay in steps. A job queues some events. One change set then stages the progress,
// and either the next job or the completion. A step that is repeated after a crash queues the same
// events again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { deliveryTargets, type Target } from '../endpoints/index.ts';
import { countDue, requeueEvents } from '../webhooks/index.ts';
import { nextEvents } from './range.ts';
import { replayStates } from './states.ts';
import { type ReplayRow, webhookReplays } from './store.ts';

export const REPLAY_STEP = defineJob('webhooks.replay', Type.Object({ replayId: Type.String() }));

/** Maximum number of events of one step. */
const MAX_STEP_EVENTS = 500;
/**
 * Maximum number of due deliveries of an endpoint. A replay waits at this number, because newer
 * events are delivered after the due deliveries.
 */
const MAX_DUE = 500;
const WAIT_MS = 250;
/**
 * Maximum wait of one run for the endpoint, in real time, because a sandbox clock may be frozen.
 */
const MAX_WAIT_MS = 3_000;

/** Whether few enough deliveries are due, immediately or after a wait. */
async function hasFewDueDeliveries({ db, effects }: Runtime, row: ReplayRow): Promise<boolean> {
  const lane = { platformId: row.platform_id, endpoint: row.endpoint };
  for (let waitedMs = 0; ; waitedMs += WAIT_MS) {
    if ((await countDue(db, lane, effects.now(), MAX_DUE)) < MAX_DUE) return true;
    if (waitedMs >= MAX_WAIT_MS) return false;
    await sleep(WAIT_MS);
  }
}

interface Progress {
  queued: number;
  place: string | null;
}

async function queueStep(runtime: Runtime, row: ReplayRow, target: Target): Promise<Progress> {
  const { db, effects, clocks } = runtime;
  const { platform_id: platformId, scope, from_time: from, to_time: to } = row;
  const { ownClock } = await clocks.timeOf({ platformId });
  const range = { platformId, target, scope, from, to, ownClock };
  const { eventIds, place } = await nextEvents(db, range, row.place, MAX_STEP_EVENTS);
  const queuedEvents = eventIds.length
    ? await requeueEvents(db, eventIds, effects.now(), [target.number])
    : [];
  return { queued: queuedEvents.length, place };
}

/** Stages the progress, unless another worker has recorded it. */
async function recordStep(ctx: Ctx, currentRow: ReplayRow, { queued, place }: Progress) {
  const row = await ctx.read(webhookReplays, currentRow.id);
  if (row?.status !== 'PROCESSING' || row.place !== currentRow.place) return;
  ctx.update(webhookReplays, row, {
    status: replayStates.next(row.status, place === null ? 'complete' : 'proceed'),
    done: row.done + queued,
    place,
    updated_at: ctx.now,
  });
  if (place !== null) ctx.later(REPLAY_STEP, { replayId: row.id });
}

/** Columns of a replay that is stopped early. */
export const failedPatch = ({ status }: ReplayRow, failure_reason: string, now: Time) => ({
  status: replayStates.next(status, 'fail'),
  failure_reason,
  updated_at: now,
});

async function fail(ctx: Ctx, id: string, failure_reason: string) {
  const row = await ctx.read(webhookReplays, id);
  if (row?.status !== 'PROCESSING') return;
  ctx.update(webhookReplays, row, failedPatch(row, failure_reason, ctx.now));
}

async function runReplayStep(runtime: Runtime, job: JobOf<typeof REPLAY_STEP>): Promise<Result> {
  const { replayId } = job.input;
  const row = await runtime.db.read(webhookReplays, replayId);
  if (!row) throw new Error(`job ${job.id} refers to an unknown replay`);
  const caller = await callerOf(runtime.db, row.platform_id);
  // Another request or worker has ended the replay.
  if (row.status !== 'PROCESSING') return { caller, stage: async () => undefined };
  const target = (await deliveryTargets(runtime.db, row.platform_id)).get(row.endpoint);
  // The number of a deleted endpoint can be reused.
  if (!target?.isLive || target.id !== row.endpoint_id) {
    const reason = 'The webhook endpoint was deleted.';
    return { caller, stage: (ctx) => fail(ctx, replayId, reason) };
  }
  // Deliveries of a paused endpoint and pulled deliveries do not delay other deliveries.
  if (target.isSent && !(await hasFewDueDeliveries(runtime, row))) {
    return {
      caller,
      async stage(ctx) {
        ctx.later(REPLAY_STEP, { replayId });
      },
    };
  }
  const progress = await queueStep(runtime, row, target);
  runtime.wake.events();
  return { caller, stage: (ctx) => recordStep(ctx, row, progress) };
}

export const replayJobs = (): JobHandler[] => [jobHandler(REPLAY_STEP, { run: runReplayStep })];
