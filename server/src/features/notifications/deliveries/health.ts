// State of webhook deliveries of platforms: pending deliveries, failures of events of the last day,
// and the last success of each endpoint. Each count has a maximum, so that a short range of an
// index is read.
import { iso, type Time } from '../../../kernel/effects.ts';
import { idsFrom, timeOfId } from '../../../kernel/id.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { platformById } from '../../tenancy/platform/index.ts';
import { endpointViews } from '../endpoints/index.ts';

/** Maximum count. Larger counts are reported as this number. */
export const MAX_COUNTED = 1_000;
/** Number of latest attempts in which the last success is searched. */
const MAX_SEARCHED = 200;
const FAILURE_PERIOD_MS = 86_400_000;

// Number 0 is the endpoint of the configuration. It may have no row.
const HEALTH_SQL = `select p.id as platform_id, n.number, queued.pending, queued.oldest,
    dropped.failed, success.at
  from unnest($1::text[]) p(id)
  cross join lateral (select 0 as number union select w.number from webhook_endpoints w
    where w.platform_id = p.id and w.deleted_at is null) n
  cross join lateral (select count(*)::int4 as pending, min(event_id) as oldest from (
    select event_id from webhook_queue where platform_id = p.id and endpoint = n.number
    order by event_id limit $2) q) queued
  cross join lateral (select count(*)::int4 as failed from (
    select from webhook_attempts where platform_id = p.id and endpoint = n.number
      and event_id > $3 and result = 'dropped' limit $2) d) dropped
  left join lateral (select at from (
    select at, result from webhook_attempts where platform_id = p.id and endpoint = n.number
    order by event_id desc, attempt desc limit $4) a where result = 'delivered' limit 1) success
    on true`;

interface Row {
  platform_id: string;
  number: number;
  pending: number;
  oldest: string | null;
  failed: number;
  at: Time | null;
}

const rowsOf = (
  { db, effects }: { db: Pick<Database, 'query'>; effects: Pick<Runtime['effects'], 'now'> },
  platformIds: readonly string[],
): Promise<Row[]> => {
  const since = idsFrom('Webhook', effects.now() - FAILURE_PERIOD_MS);
  return db.query<Row>(HEALTH_SQL, [platformIds, MAX_COUNTED, since, MAX_SEARCHED]);
};

const presentHealth = (row: Pick<Row, 'pending' | 'oldest' | 'failed'>) => ({
  pending: row.pending,
  failed: row.failed,
  ...(row.oldest === null ? {} : { oldestPendingAt: iso(timeOfId(row.oldest)) }),
});

/** Pending and failed deliveries of each platform with such deliveries. */
export async function deliveryHealth(runtime: Runtime, platformIds: readonly string[]) {
  const rows = await rowsOf(runtime, platformIds);
  return platformIds.flatMap((platformId) => {
    const platformRows = rows.filter((row) => row.platform_id === platformId);
    const [oldestEventId = null] = platformRows.flatMap((row) => row.oldest ?? []).sort();
    const sum = (read: (row: Row) => number) =>
      Math.min(
        MAX_COUNTED,
        platformRows.reduce((total, row) => total + read(row), 0),
      );
    const total = {
      pending: sum((row) => row.pending),
      failed: sum((row) => row.failed),
      oldest: oldestEventId,
    };
    const hasNoDeliveries = total.pending === 0 && total.failed === 0;
    return hasNoDeliveries ? [] : [{ platformId, ...presentHealth(total) }];
  });
}

/**
 * The webhook endpoints of a platform with the state of their deliveries. Throws
 * PLATFORM_NOT_FOUND.
 */
export async function endpointsWithHealth(runtime: Runtime, platformId: string) {
  const platform = await platformById(runtime, platformId);
  const [views, rows] = await Promise.all([
    endpointViews(runtime.db, platform, runtime.effects.now()),
    rowsOf(runtime, [platformId]),
  ]);
  return views.map(({ number, view }) => {
    const row = rows.find((each) => each.number === number);
    const { pending, failed, oldest, at } = row ?? {
      pending: 0,
      failed: 0,
      oldest: null,
      at: null,
    };
    return {
      platformId,
      ...view,
      ...presentHealth({ pending, failed, oldest }),
      ...(at === null ? {} : { lastSuccessAt: iso(at) }),
    };
  });
}
