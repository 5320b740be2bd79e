// Operations of webhook deliveries. An event that is sent again is written to the queue directly.
// The deliverer reads the queue within a second. While an event is queued, a repeated request only
// makes it due again.
import type { Static } from '@sinclair/typebox';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { isAnyId, isId, timeOfId } from '../../../kernel/id.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { deliveryTargets, endpointOf, receivesType } from '../endpoints/index.ts';
import { requeueEvents } from '../webhooks/index.ts';
import {
  getWebhookDeliveryById,
  listWebhookDeliveries,
  resendEvent,
  resendWebhookDelivery,
} from './contract.ts';
import { pageOfDeliveries } from './list.ts';
import { cursorAfter, deliveryId, deliveryOf, eventIdsOf, readCursor } from './position.ts';
import { presentDelivery, presentDetails, type Targets } from './present.ts';
import { type DeliveryFilter, findAttempts, findDelivery, findEvent } from './store.ts';

type Query = Static<typeof listWebhookDeliveries.query>;
/** Fields of a context that a list uses. */
type Reads = Pick<Ctx, 'db' | 'effects' | 'caller' | 'ownClock'>;

const deliveryNotFound = () => new Fault('NOT_FOUND', 'Webhook delivery not found.');
const eventNotFound = () => new Fault('NOT_FOUND', 'Event not found.');

/** Bounds of the IDs of events that a query may match. */
function boundsOf(
  { ownClock, effects }: Reads,
  query: Query,
): Pick<DeliveryFilter, 'from' | 'before'> {
  const { createdAfter, createdBefore, resourceId } = query;
  const after = createdAfter === undefined ? 0 : Date.parse(createdAfter);
  const until = createdBefore === undefined ? undefined : Date.parse(createdBefore);
  const errors = rangeErrors(query);
  if (errors.length) throw invalid(errors);
  // Events about a resource are not older than the resource. IDs from a seed contain no real time.
  const createdAt = resourceId !== undefined && isAnyId(resourceId) ? timeOfId(resourceId) : 0;
  const lowerBound = Math.max(ownClock ? 0 : after, createdAt <= effects.now() ? createdAt : 0);
  return eventIdsOf(lowerBound, ownClock ? undefined : until);
}

function filterOf(ctx: Reads, targets: Targets, query: Query): DeliveryFilter {
  const { endpointId, status, eventId, eventType, resourceId, createdAfter, createdBefore } = query;
  const matchingTargets = [...targets.values()].filter(
    ({ id }) => endpointId === undefined || id === endpointId,
  );
  return {
    platformId: ctx.caller.platformId,
    endpoints: matchingTargets.map(({ number }) => number),
    status,
    eventId,
    types: eventType,
    resourceId,
    ...boundsOf(ctx, query),
    createdAfter: createdAfter === undefined ? undefined : Date.parse(createdAfter),
    createdBefore: createdBefore === undefined ? undefined : Date.parse(createdBefore),
  };
}

/** A page of the deliveries of the caller's platform. */
export async function listPage(ctx: Reads, query: Query) {
  const { limit = 20, cursor, sortOrder: order = 'desc' } = query;
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const targets = await deliveryTargets(ctx.db, ctx.caller.platformId);
  const filter = filterOf(ctx, targets, query);
  const { rows, end } = await pageOfDeliveries(ctx.db, filter, { order, after, limit });
  return {
    data: rows.map((row) => presentDelivery(row, targets)),
    hasMore: end !== undefined,
    ...(end === undefined ? {} : { nextCursor: cursorAfter(end) }),
  };
}

async function requireDelivery(ctx: Ctx, id: string) {
  const { platformId } = ctx.caller;
  const key = deliveryOf(id);
  const targets = await deliveryTargets(ctx.db, platformId);
  const row = key && (await findDelivery(ctx.db, platformId, key));
  if (!key || !row) throw deliveryNotFound();
  return { key, row, targets };
}

const erasedDataConflict = () =>
  new Fault('CONFLICT', 'The event cannot be sent again, because its data was erased.');

/** Numbers of the endpoints that receive an event again. Throws NOT_FOUND and CONFLICT. */
async function receiversOf(ctx: Ctx, type: string, endpointId?: string): Promise<number[]> {
  if (endpointId !== undefined) return [(await endpointOf(ctx, endpointId)).number];
  const targets = await deliveryTargets(ctx.db, ctx.caller.platformId);
  const recipients = [...targets.values()].filter((target) => receivesType(target, type));
  if (!recipients.length)
    throw new Fault(
      'CONFLICT',
      'No webhook endpoint receives events of this type. Add the type to an endpoint first.',
    );
  return recipients.map(({ number }) => number);
}

export const deliveryOperations = [
  handle(listWebhookDeliveries, async (ctx, { query }) => ({
    status: 200,
    body: await listPage(ctx, query),
  })),

  handle(getWebhookDeliveryById, async (ctx, { params }) => {
    const { key, row, targets } = await requireDelivery(ctx, params.deliveryId);
    const attempts = await findAttempts(ctx.db, ctx.caller.platformId, key);
    return { status: 200, body: presentDetails(row, targets, attempts) };
  }),

  handle(resendWebhookDelivery, async (ctx, { params }) => {
    const { key, targets } = await requireDelivery(ctx, params.deliveryId);
    if (!targets.get(key.endpoint)?.isLive) {
      throw new Fault(
        'CONFLICT',
        'The webhook endpoint of this delivery was deleted. Use `resendEvent` for another endpoint.',
      );
    }
    const requeuedEvents = await requeueEvents(ctx.db, [key.eventId], ctx.effects.now(), [
      key.endpoint,
    ]);
    const row = requeuedEvents.length
      ? await findDelivery(ctx.db, ctx.caller.platformId, key)
      : undefined;
    if (!row) throw erasedDataConflict();
    return { status: 202, body: presentDelivery(row, targets) };
  }),

  handle(resendEvent, async (ctx, { params: { eventId }, body }) => {
    const event = isId(eventId, 'Webhook') ? await findEvent(ctx.db, eventId) : undefined;
    if (event?.platformId !== ctx.caller.platformId) throw eventNotFound();
    const numbers = await receiversOf(ctx, event.type, body.endpointId);
    const requeuedEvents = await requeueEvents(ctx.db, [eventId], ctx.effects.now(), numbers);
    if (!requeuedEvents.length) throw erasedDataConflict();
    const deliveryIds = requeuedEvents.map(deliveryId);
    return { status: 202, body: { deliveryIds } };
  }),
];
