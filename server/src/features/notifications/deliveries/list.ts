// One page of the list of deliveries. A filter may match few of very many deliveries, so the order
// is read in steps and each page ends after a bounded time; it is then shorter than requested and
// says that there is more.
import type { Database } from '../../../runtime/db/database.ts';
import type { DeliveryKey } from './position.ts';
import { candidates, type DeliveryFilter, type DeliveryRow, details, type Step } from './store.ts';

/** Deliveries of the first step of a filter that may skip many, and of the longest. */
const FIRST_STEP = 250;
const LONGEST_STEP = 2_000;
/** A page ends when it has taken this long. */
const PAGE_MS = 100;

export interface DeliveryPage {
  rows: DeliveryRow[];
  /** The last delivery that was read; undefined on the last page. */
  end: DeliveryKey | undefined;
}

/** Whether a filter may skip very many deliveries. */
const isSelective = (filter: DeliveryFilter) =>
  filter.status === 'DELIVERED' ||
  filter.types !== undefined ||
  filter.resourceId !== undefined ||
  filter.createdAfter !== undefined ||
  filter.createdBefore !== undefined;

export const keyOf = ({ event_id, endpoint }: DeliveryRow): DeliveryKey => ({
  eventId: event_id,
  endpoint,
});

export async function pageOfDeliveries(
  db: Database,
  filter: DeliveryFilter,
  { order, after, limit }: Step,
): Promise<DeliveryPage> {
  const started = performance.now();
  const rows: DeliveryRow[] = [];
  let length = isSelective(filter) ? Math.max(limit + 1, FIRST_STEP) : limit + 1;
  let place = after;
  for (;;) {
    const keys = await candidates(db, filter, { order, after: place, limit: length });
    const left = limit + 1 - rows.length;
    if (keys.length) rows.push(...(await details(db, filter, keys, { order, limit: left })));
    if (rows.length > limit) {
      const kept = rows.slice(0, limit);
      return { rows: kept, end: keyOf(kept.at(-1) as DeliveryRow) };
    }
    place = keys.at(-1);
    if (keys.length < length) return { rows, end: undefined };
    if (performance.now() - started > PAGE_MS) return { rows, end: place };
    length = Math.min(LONGEST_STEP, Math.max(FIRST_STEP, length * 2));
  }
}
