// A page of the deliveries of all platforms, newest first. Most pages read the events by primary
// key and then their deliveries, because an index of deliveries over all endpoints would slow every
// delivery. Failed deliveries have a separate index. The pending deliveries of up to `MAX_QUEUES`
// endpoints are merged.
import type { Static } from '@sinclair/typebox';
import { invalid } from '../../../kernel/fault.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { deliveryTargets } from '../endpoints/index.ts';
import type { listWebhookDeliveries } from './contract.ts';
import { pageOfCandidates } from './list.ts';
import { cursorAfter, eventIdsOf, readCursor } from './position.ts';
import { presentDelivery } from './present.ts';
import type { DeliveryFilter, PlatformKey, Step } from './store.ts';

/** Filters of the list. A request with `endpointId` uses the list of the endpoint's platform. */
export type AllDeliveriesQuery = Omit<
  Static<typeof listWebhookDeliveries.query>,
  'sortOrder' | 'endpointId'
>;

/** Filters of deliveries of all platforms. */
type Filter = Omit<DeliveryFilter, 'platformId' | 'endpoints'>;
type Reader = Pick<Database, 'query'>;

interface PendingEndpoint {
  platformId: string;
  endpoint: number;
}

/** Maximum number of endpoints whose pending deliveries are merged. */
export const MAX_QUEUES = 500;

/** Each step of the recursion skips the remaining deliveries of an endpoint in the primary key. */
export const QUEUES = `with recursive queues as (
    (select platform_id, endpoint from webhook_queue order by platform_id, endpoint limit 1)
    union all
    select n.platform_id, n.endpoint from queues o cross join lateral (
      select platform_id, endpoint from webhook_queue
      where (platform_id, endpoint) > (o.platform_id, o.endpoint)
      order by platform_id, endpoint limit 1) n)
  select platform_id as "platformId", endpoint from queues limit ${MAX_QUEUES + 1}`;

const ORDER = 'order by event_id desc, endpoint desc';

/**
 * Each event with every endpoint that its platform has or had. `detailsSql` omits the pairs without
 * a delivery.
 */
const deliveriesOfEventsSql = (
  bounds: string,
) => `select e.platform_id, e.event_id, n.endpoint from (
    select platform_id, event_id from (select id as event_id, platform_id from events) t
    where ${bounds} order by event_id desc limit $1::int + 1) e
  cross join lateral (select 0 as endpoint union all
    select number from webhook_endpoints w where w.platform_id = e.platform_id and number > 0) n`;

const failedSql = (bounds: string) => `select platform_id, event_id, endpoint
  from webhook_attempts t where result = 'dropped' and ${bounds}`;

const pendingSql = (bounds: string, queues: string) => `select q.* from unnest(${queues}) as n(p, e)
  cross join lateral (select platform_id, event_id, endpoint from webhook_queue t
    where t.platform_id = n.p and t.endpoint = n.e and ${bounds}
    order by event_id desc limit $1::int + 1) q`;

/**
 * The statement of the next deliveries that may match, exported to test its plan. `queues` are the
 * endpoints whose pending deliveries are read. Without `queues`, failed attempts or events are
 * read.
 */
export function allCandidatesSql(
  { status, eventId, from, before }: Filter,
  { after, limit }: Pick<Step, 'after' | 'limit'>,
  queues?: readonly PendingEndpoint[],
) {
  const values: unknown[] = [limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const bounds: string[] = ['true'];
  if (after) bounds.push(`event_id <= ${parameter(after.eventId)}`);
  if (eventId !== undefined) bounds.push(`event_id = ${parameter(eventId)}`);
  if (from !== undefined) bounds.push(`event_id >= ${parameter(from)}`);
  if (before !== undefined) bounds.push(`event_id < ${parameter(before)}`);
  const range = bounds.join(' and ');
  const sourceOf = () => {
    if (status === 'FAILED') return failedSql(range);
    if (!queues) return deliveriesOfEventsSql(range);
    const platforms = parameter(queues.map(({ platformId }) => platformId));
    const endpoints = parameter(queues.map(({ endpoint }) => endpoint));
    return pendingSql(range, `${platforms}::text[], ${endpoints}::int[]`);
  };
  const source = sourceOf();
  const position = after
    ? `(event_id, endpoint) < (${parameter(after.eventId)}, ${parameter(after.endpoint)}::int)`
    : 'true';
  const text = `select platform_id as "platformId", event_id as "eventId", endpoint from (${source}) s
    where ${position} ${ORDER} limit $1::int`;
  return { text, values };
}

async function queuesOf(db: Reader, { status }: Filter): Promise<PendingEndpoint[] | undefined> {
  if (status !== 'PENDING') return undefined;
  const queues = await db.query<PendingEndpoint>(QUEUES, []);
  // With more endpoints, most of the latest events have pending deliveries.
  return queues.length > MAX_QUEUES ? undefined : queues;
}

function filterOf(query: AllDeliveriesQuery): Filter {
  const { status, eventId, eventType, resourceId, createdAfter, createdBefore } = query;
  const errors = rangeErrors(query);
  if (errors.length) throw invalid(errors);
  const [after, before] = [createdAfter, createdBefore].map((text) =>
    text === undefined ? undefined : Date.parse(text),
  );
  const times = { createdAfter: after, createdBefore: before };
  const ids = eventIdsOf(after ?? 0, before);
  return { status, eventId, types: eventType, resourceId, ...ids, ...times };
}

/**
 * A page of the deliveries of all platforms, newest first. Throws INVALID_INPUT for an invalid
 * cursor or time range.
 */
export async function pageOfAllDeliveries({ db }: Pick<Runtime, 'db'>, query: AllDeliveriesQuery) {
  const { limit = 20, cursor } = query;
  const filter = filterOf(query);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const queues = await queuesOf(db, filter);
  const page = { order: 'desc' as const, after, limit };
  const { rows, end } = await pageOfCandidates(db, filter, page, (step) => {
    const { text, values } = allCandidatesSql(filter, step, queues);
    return db.query<PlatformKey>(text, values);
  });
  const platforms = [...new Set(rows.map((row) => row.platform_id))];
  const targets = new Map(
    await Promise.all(
      platforms.map(async (id) => [id, await deliveryTargets(db as Database, id)] as const),
    ),
  );
  return {
    data: rows.map((row) => ({
      platformId: row.platform_id,
      ...presentDelivery(row, targets.get(row.platform_id) ?? new Map()),
    })),
    hasMore: end !== undefined,
    ...(end === undefined ? {} : { nextCursor: cursorAfter(end) }),
  };
}
