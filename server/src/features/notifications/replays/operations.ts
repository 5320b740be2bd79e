// Operations of replays: a read-only preview, and the replay as a job with its progress.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals } from '../../../runtime/db/paging.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { deliveryTargets, endpointOf, type Target } from '../endpoints/index.ts';
import {
  createWebhookReplay,
  getWebhookReplayById,
  listWebhookReplays,
  MAX_DAYS,
  MAX_EVENTS,
  previewWebhookReplay,
} from './contract.ts';
import { failedPatch, REPLAY_STEP } from './jobs.ts';
import { countReplay, type ReplayRange } from './range.ts';
import { type ReplayRow, webhookReplays } from './store.ts';

const DAY_MS = 86_400_000;
/** Period after which a replay without progress is stopped by the next replay. */
const STALLED_MS = 3_600_000;

const present = (row: ReplayRow) => ({
  id: row.id,
  endpointId: row.endpoint_id,
  scope: row.scope,
  from: iso(row.from_time),
  to: iso(row.to_time),
  status: row.status,
  total: row.total,
  done: row.done,
  ...(row.failure_reason === null ? {} : { failureReason: row.failure_reason }),
  ...timestamps(row),
});

async function rangeOf(
  ctx: Ctx,
  { endpointId, scope = 'UNDELIVERED', ...times }: Static<typeof createWebhookReplay.body>,
): Promise<ReplayRange> {
  const from = Date.parse(times.from);
  const to = times.to === undefined ? ctx.now : Date.parse(times.to);
  if (to < from) {
    throw times.to === undefined
      ? invalidField('from', 'must not be in the future')
      : invalidField('to', 'must not be before `from`');
  }
  if (to - from > MAX_DAYS * DAY_MS) {
    throw invalidField('from', `must be at most ${MAX_DAYS} days before the end of the range`);
  }
  const { number } = await endpointOf(ctx, endpointId);
  const { platformId } = ctx.caller;
  const target = (await deliveryTargets(ctx.db, platformId)).get(number) as Target;
  return { platformId, target, scope, from, to, ownClock: ctx.ownClock };
}

/**
 * Throws if another replay to the endpoint is in progress. Stops a stalled replay. The unique key
 * permits one of several concurrent requests to insert. The others find the inserted row.
 */
async function requireIdle(ctx: Ctx, { target, platformId }: ReplayRange): Promise<void> {
  const filter = {
    platform_id: platformId,
    endpoint: target.number,
    status: 'PROCESSING',
  } as const;
  const runningReplays = await ctx.db.find(webhookReplays, filter);
  const activeReplay = runningReplays.find((row) => row.updated_at > ctx.now - STALLED_MS);
  if (activeReplay) {
    const details = { replayId: activeReplay.id };
    const reason = 'Another replay to this endpoint is in progress. Wait until it has ended.';
    throw new Fault('CONFLICT', reason, details);
  }
  for (const row of runningReplays) {
    ctx.update(
      webhookReplays,
      row,
      failedPatch(row, 'The replay made no progress for an hour.', ctx.now),
    );
  }
}

export const replayOperations = [
  handle(previewWebhookReplay, async (ctx, { body }) => {
    const { count, oldest, newest } = await countReplay(ctx.db, await rangeOf(ctx, body));
    return {
      status: 200,
      body: {
        count: Math.min(count, MAX_EVENTS),
        exceedsLimit: count > MAX_EVENTS,
        ...(oldest === null ? {} : { oldestEventAt: iso(oldest) }),
        ...(newest === null ? {} : { newestEventAt: iso(newest) }),
      },
    };
  }),

  handle(createWebhookReplay, async (ctx, { body }) => {
    const range = await rangeOf(ctx, body);
    await requireIdle(ctx, range);
    const { count } = await countReplay(ctx.db, range);
    if (count > MAX_EVENTS) {
      const message = `the range has more than ${MAX_EVENTS} events. Replay it in parts`;
      throw invalidField('to', message);
    }
    const row = ctx.insert(webhookReplays, {
      id: ctx.id('WebhookReplay'),
      platform_id: range.platformId,
      endpoint_id: range.target.id,
      endpoint: range.target.number,
      scope: range.scope,
      from_time: range.from,
      to_time: range.to,
      status: 'PROCESSING',
      total: count,
      done: 0,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    ctx.later(REPLAY_STEP, { replayId: row.id });
    return { status: 202, body: present(row) };
  }),

  handle(getWebhookReplayById, async (ctx, { params: { replayId } }) => {
    const row = isId(replayId, 'WebhookReplay')
      ? await ctx.read(webhookReplays, replayId)
      : undefined;
    if (row?.platform_id !== ctx.caller.platformId) {
      throw new Fault('NOT_FOUND', 'Webhook replay not found.');
    }
    return { status: 200, body: present(row) };
  }),

  handle(listWebhookReplays, async (ctx, { query }) => {
    const { endpointId, status, limit = 20, cursor } = query;
    const filters = equals({
      platform_id: ctx.caller.platformId,
      endpoint_id: endpointId,
      status,
    });
    const page = await ctx.db.page(webhookReplays, { filters, sort: 'desc', limit, cursor });
    const { rows, ...rest } = page;
    return { status: 200, body: { data: rows.map(present), ...rest } };
  }),
];
