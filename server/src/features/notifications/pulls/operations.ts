// The operations of pulled deliveries. An acknowledgment is one statement for each batch of rows.
// No change set is used, because an acknowledgment is idempotent and can cover very many
// deliveries.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Operation } from '../../../runtime/operation/feature.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { deliveryId } from '../deliveries/index.ts';
import { pulledEndpointOf } from '../endpoints/index.ts';
import { type Followers, horizonOf } from '../events/index.ts';
import {
  createDeliverySigner,
  type DeliverySigner,
  openDeliveries,
  type WebhookDeps,
} from '../webhooks/index.ts';
import { acknowledgeWebhookDeliveries, pullWebhookDeliveries } from './contract.ts';
import { type PullPosition, pullCursorOf, readPullCursor } from './cursor.ts';
import {
  acknowledgeEvents,
  acknowledgeUpTo,
  type PulledEndpoint,
  type PullRow,
  pullableDeliveries,
} from './store.ts';

export interface PullDeps {
  webhooks: Pick<WebhookDeps, 'keys' | 'naming'>;
  followers: Pick<Followers, 'register'>;
  log: Log;
}

type Query = Static<typeof pullWebhookDeliveries.query>;

const DEFAULT_LIMIT = 20;
/** Maximum deliveries that one statement, and one request, acknowledges. */
const BATCH = 2_000;
const MAX_ACKNOWLEDGED = 20_000;
/**
 * Interval of checks for deliveries of a resumed endpoint and of events that are sent again. These
 * deliveries are not announced, because no new event is stored.
 */
const RECHECK_MS = 2_000;

interface Page {
  rows: PullRow[];
  hasMore: boolean;
  horizon: bigint;
}

/** Reads one page. Deliveries whose data was erased or cannot be decrypted are removed. */
async function readPage(
  ctx: Ctx,
  log: Log,
  lane: PulledEndpoint,
  after: PullPosition | undefined,
  limit: number,
): Promise<Page> {
  for (;;) {
    const horizon = await horizonOf(ctx.db);
    const events = await pullableDeliveries(ctx.db, lane, horizon, after, limit + 1);
    const { db, vault } = ctx;
    const rows = await openDeliveries({ db, vault, log }, events.slice(0, limit));
    const isComplete = rows.length > 0 || events.length === 0;
    if (isComplete) return { rows, hasMore: events.length > limit, horizon };
  }
}

/**
 * Reads until a delivery is found, the wait has timed out, the client disconnects, or the process
 * stops.
 */
async function pull(
  ctx: Ctx,
  { followers, log }: PullDeps,
  lane: PulledEndpoint,
  { after, wait = 0, limit = DEFAULT_LIMIT }: Query,
  disconnect: AbortSignal | undefined,
) {
  const cursor = after === undefined ? undefined : readPullCursor('after', lane.endpoint, after);
  let page = await readPage(ctx, log, lane, cursor, limit);
  let idleMs = 0;
  if (wait === 0 || page.rows.length) return { page, idleMs };
  const registration = followers.register(lane.platformId, disconnect);
  try {
    while (!page.rows.length && !registration.isClosed && idleMs < wait * 1_000) {
      const startedAt = performance.now();
      const nextPosition = { position: page.horizon, id: '' };
      await registration.wait(nextPosition, Math.min(RECHECK_MS, wait * 1_000 - idleMs));
      idleMs += performance.now() - startedAt;
      if (disconnect?.aborted) break;
      page = await readPage(ctx, log, lane, cursor, limit);
    }
  } finally {
    registration.release();
  }
  return { page, idleMs };
}

/** The endpoint as a target of deliveries. Throws CONFLICT if its deliveries are sent. */
async function laneOf(ctx: Ctx, endpointId: string): Promise<PulledEndpoint> {
  const row = await pulledEndpointOf(ctx, endpointId);
  if (row) return { platformId: row.platform_id, endpoint: row.number };
  throw new Fault(
    'CONFLICT',
    'The deliveries of this endpoint are sent to its URL. Create an endpoint with `delivery` PULL.',
  );
}

async function acknowledge(ctx: Ctx, lane: PulledEndpoint, text: string) {
  const cursor = readPullCursor('cursor', lane.endpoint, text);
  // Only deliveries below the horizon can have been read.
  if (cursor.position >= (await horizonOf(ctx.db))) {
    throw invalidField('cursor', 'is not a cursor of this service. Use `cursor` of a reply');
  }
  let totalCount = 0;
  let hasMore = true;
  while (hasMore && totalCount < MAX_ACKNOWLEDGED) {
    const acknowledgedCount = await acknowledgeUpTo(ctx.db, lane, ctx.now, cursor, BATCH);
    totalCount += acknowledgedCount;
    hasMore = acknowledgedCount === BATCH;
  }
  return { acknowledged: totalCount, hasMore };
}

export function pullOperations(deps: PullDeps): readonly Operation[] {
  let sign: DeliverySigner | undefined;

  function present(ctx: Ctx, row: PullRow) {
    sign ??= createDeliverySigner(deps.webhooks, ctx.vault);
    const target = { ...row, environment: ctx.caller.environment };
    const { headers, body } = sign(row, target, ctx.effects.now());
    const { id: eventId, type: eventType, created_at } = row;
    const id = deliveryId({ eventId, endpoint: row.endpoint });
    const attempt = row.attempts + 1;
    return { id, eventId, eventType, createdAt: iso(created_at), attempt, headers, body };
  }

  return [
    handle(pullWebhookDeliveries, async (ctx, { params, query, disconnect }) => {
      const lane = await laneOf(ctx, params.endpointId);
      const { page, idleMs } = await pull(ctx, deps, lane, query, disconnect);
      const lastRow = page.rows.at(-1);
      const cursor = lastRow && pullCursorOf(lane.endpoint, { ...lastRow, eventId: lastRow.id });
      const body = {
        data: page.rows.map((each) => present(ctx, each)),
        hasMore: page.hasMore,
        ...(cursor === undefined ? {} : { cursor }),
      };
      return { status: 200, body, idleMs };
    }),

    handle(acknowledgeWebhookDeliveries, async (ctx, { params, body }) => {
      const lane = await laneOf(ctx, params.endpointId);
      const { cursor, eventIds = [] } = body;
      if (cursor !== undefined) return { status: 200, body: await acknowledge(ctx, lane, cursor) };
      const acknowledgedCount = await acknowledgeEvents(ctx.db, lane, ctx.now, eventIds);
      return { status: 200, body: { acknowledged: acknowledgedCount, hasMore: false } };
    }),
  ];
}
