// Webhook deliveries for the operator: pending deliveries, the deliveries of an event, dropped
// events, and sending an event again. Deliveries are shown as the API shows them.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { platformById, readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { deliveryTargets, platformOfEndpoint, receivesType } from '../endpoints/index.ts';
import { requeueEvents } from '../webhooks/index.ts';
import { type AllDeliveriesQuery, pageOfAllDeliveries } from './all-platforms.ts';
import type { listWebhookDeliveries } from './contract.ts';
import { pageOfDeliveries } from './list.ts';
import { listPage } from './operations.ts';
import { deliveryId } from './position.ts';
import {
  type DeliveryDetailsView,
  type DeliveryView,
  presentDelivery,
  presentDetails,
} from './present.ts';
import {
  type DroppedEvent,
  deliveryDetails,
  droppedEvents,
  findAttempts,
  findEvent,
  type PlatformKey,
  pendingKeys,
} from './store.ts';

const eventNotFound = () => new Fault('NOT_FOUND', 'Event not found.');

async function eventById(db: Database, eventId: string) {
  const event = await findEvent(db, eventId);
  if (!event) throw eventNotFound();
  return event;
}

type PendingView = DeliveryView & { platformId: string };

async function viewsOf(db: Database, keys: readonly PlatformKey[]): Promise<PendingView[]> {
  const views: PendingView[] = [];
  for (const platform of new Set(keys.map((key) => key.platformId))) {
    const keysOfPlatform = keys.filter((key) => key.platformId === platform);
    const targets = await deliveryTargets(db, platform);
    const page = { order: 'asc' as const, limit: keys.length };
    const rows = await deliveryDetails(db, { status: 'PENDING' }, keysOfPlatform, page);
    views.push(...rows.map((row) => ({ platformId: platform, ...presentDelivery(row, targets) })));
  }
  return views;
}

/** Pending deliveries by platform and endpoint, oldest events first, of one platform or of all. */
export const listPending = async (
  { db }: Pick<Runtime, 'db'>,
  platformId: string | undefined,
  limit: number,
): Promise<PendingView[]> => viewsOf(db, await pendingKeys(db, platformId, limit));

interface PageInput {
  platformId?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

const CURSOR_SEPARATOR = ' ';

const cursorOf = (...parts: readonly (string | number)[]): string =>
  Buffer.from(parts.join(CURSOR_SEPARATOR)).toString('base64url');

/** The three parts of a cursor. The parts at `integers` are numbers. Throws INVALID_INPUT. */
function partsOf(cursor: string | undefined, integers: readonly number[]): string[] | undefined {
  if (cursor === undefined) return undefined;
  const parts = Buffer.from(cursor, 'base64url').toString().split(CURSOR_SEPARATOR);
  const isInteger = (index: number) => /^\d{1,14}$/.test(parts[index] ?? '');
  const isCursor = parts.length === 3 && integers.every(isInteger) && cursorOf(...parts) === cursor;
  if (!isCursor || parts.some((part) => !/^[\x21-\x7e]{1,100}$/.test(part))) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return parts;
}

/**
 * The items of a page and the cursor of the next page. `rows` includes the first row of the next
 * page.
 */
function pageOf<R>(rows: readonly R[], limit: number, cursorAfter: (row: R) => string) {
  const [items, lastRow] = [rows.slice(0, limit), rows[limit - 1]];
  const hasMore = rows.length > limit;
  return { items, hasMore, ...(hasMore && lastRow ? { nextCursor: cursorAfter(lastRow) } : {}) };
}

/** A page of pending deliveries, in the order of `listPending`. */
export async function pageOfPending(
  { db }: Pick<Runtime, 'db'>,
  { platformId, limit = 20, cursor }: PageInput,
) {
  const [platform = '', endpoint, eventId = ''] = partsOf(cursor, [1]) ?? [];
  const after = cursor === undefined ? undefined : [platform, Number(endpoint), eventId];
  const keys = await pendingKeys(db, platformId, limit + 1, after);
  const { items, ...rest } = pageOf(keys, limit, (key) =>
    cursorOf(key.platformId, key.endpoint, key.eventId),
  );
  return { data: await viewsOf(db, items), ...rest };
}

/** A page of the deliveries of a platform, newest first by default. Throws PLATFORM_NOT_FOUND. */
export async function pageOfDeliveriesByOperator(
  runtime: Runtime,
  platformId: string,
  query: Static<typeof listWebhookDeliveries.query>,
) {
  const { db, effects, clocks } = runtime;
  const { id, environment } = await platformById(runtime, platformId);
  const { ownClock } = await clocks.timeOf({ platformId: id, environment });
  return listPage({ db, effects, ownClock, caller: systemCaller(id, environment) }, query);
}

type DeliveriesQuery = AllDeliveriesQuery & {
  platformId?: string | undefined;
  endpointId?: string;
};

/** A page of the deliveries of all platforms or of one, newest first. Throws PLATFORM_NOT_FOUND. */
export async function pageOfDeliveriesOfPlatforms(
  runtime: Runtime,
  { platformId, ...query }: DeliveriesQuery,
) {
  const { endpointId, ...rest } = query;
  if (platformId === undefined && endpointId === undefined) {
    return pageOfAllDeliveries(runtime, rest);
  }
  const id = platformId ?? (await platformOfEndpoint(runtime.db, endpointId as string));
  const isUnknown = platformId === undefined && !(await readPlatform(runtime.db, id));
  if (isUnknown) return { data: [], hasMore: false };
  const { data, ...page } = await pageOfDeliveriesByOperator(runtime, id, query);
  return { data: data.map((each) => ({ platformId: id, ...each })), ...page };
}

/** The deliveries of an event with all attempts, by endpoint. Throws NOT_FOUND. */
export async function deliveriesOfEvent({ db }: Pick<Runtime, 'db'>, eventId: string) {
  const { platformId, type, resourceId } = await eventById(db, eventId);
  const targets = await deliveryTargets(db, platformId);
  const filter = { platformId, endpoints: [...targets.keys()], eventId };
  const step = { order: 'asc', after: undefined, limit: targets.size } as const;
  const { rows } = await pageOfDeliveries(db, filter, step);
  const deliveries: DeliveryDetailsView[] = await Promise.all(
    rows.map(async (row) => {
      const key = { eventId, endpoint: row.endpoint };
      return presentDetails(row, targets, await findAttempts(db, platformId, key));
    }),
  );
  return { eventId, platformId, type, resourceId, deliveries };
}

const presentDropped = (row: DroppedEvent) => ({
  eventId: row.id,
  platformId: row.platform_id,
  type: row.type,
  subject: row.subject,
  createdAt: iso(row.created_at),
  attempts: row.attempts,
});

/** Deliveries that failed and were not sent again afterwards, latest first. */
export const listDroppedEvents = async (
  { db }: Pick<Runtime, 'db'>,
  limit: number,
  platformId?: string,
) => (await droppedEvents(db, limit, { platformId })).map(presentDropped);

/** A page of dropped events, in the order of `listDroppedEvents`. */
export async function pageOfDroppedEvents(
  { db }: Pick<Runtime, 'db'>,
  { platformId, limit = 20, cursor }: PageInput,
) {
  const [createdAt, endpoint, eventId = ''] = partsOf(cursor, [0, 1]) ?? [];
  const after =
    cursor === undefined
      ? undefined
      : { at: Number(createdAt), endpoint: Number(endpoint), eventId };
  const rows = await droppedEvents(db, limit + 1, { platformId, after });
  const { items, ...rest } = pageOf(rows, limit, (row) => cursorOf(row.at, row.endpoint, row.id));
  return { data: items.map(presentDropped), ...rest };
}

interface ResendInput {
  eventId: string;
  /** Absent: all endpoints that receive the type of the event. */
  endpointId?: string | undefined;
  /** Platforms that the operator may access, or null for all. */
  platformIds?: readonly string[] | null | undefined;
}

/**
 * Sends an event again, delivered or not, to one endpoint or to all endpoints that receive its
 * type. Returns the event with the IDs of the deliveries. Throws NOT_FOUND and CONFLICT.
 */
export async function resendEventByOperator(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  { eventId, endpointId, platformIds = null }: ResendInput,
): Promise<{ eventId: string; platformId: string; deliveryIds: string[] }> {
  const { platformId, type } = await eventById(db, eventId);
  // The queue is outside of change sets, so no commit checks the platform.
  if (platformIds !== null && !platformIds.includes(platformId)) throw eventNotFound();
  const targets = [...(await deliveryTargets(db, platformId)).values()];
  const recipients = targets.filter((target) =>
    endpointId === undefined
      ? receivesType(target, type)
      : target.isLive && target.id === endpointId,
  );
  if (endpointId !== undefined && !recipients.length) {
    throw new Fault('NOT_FOUND', 'Webhook endpoint not found.');
  }
  if (!recipients.length) {
    throw new Fault(
      'CONFLICT',
      'No webhook endpoint receives events of this type. Add the type to an endpoint first.',
    );
  }
  const numbers = recipients.map(({ number }) => number);
  const requeuedEvents = await requeueEvents(db, [eventId], effects.now(), numbers);
  if (!requeuedEvents.length) {
    throw new Fault(
      'CONFLICT',
      'The event cannot be resent. Its data was erased together with the customer.',
    );
  }
  return { eventId, platformId, deliveryIds: requeuedEvents.map(deliveryId) };
}
