// One page of the list of deliveries. A filter may match few of very many deliveries, so a page is
// read in steps and returned after a bounded time. A page can be shorter than requested although
// `hasMore` is true.
import type { Database } from '../../../runtime/db/database.ts';
import type { DeliveryKey } from './position.ts';
import {
  type DeliveryFilter,
  type DeliveryRow,
  type DetailsFilter,
  deliveryDetails,
  deliveryKeys,
  type PlatformKey,
  type Step,
} from './store.ts';

/** Minimum and maximum number of deliveries in a step of a filter that may skip many deliveries. */
const MIN_STEP_SIZE = 250;
const MAX_STEP_SIZE = 2_000;
/** Time after which no further step of a page begins. */
const PAGE_MS = 100;

export interface DeliveryPage {
  rows: DeliveryRow[];
  /** The delivery after which the next page begins, or undefined on the last page. */
  end: DeliveryKey | undefined;
}

/** Whether a filter may skip very many deliveries. */
const isSelective = (filter: DetailsFilter) =>
  filter.status === 'DELIVERED' ||
  filter.types !== undefined ||
  filter.resourceId !== undefined ||
  filter.createdAfter !== undefined ||
  filter.createdBefore !== undefined;

export const keyOf = ({ event_id, endpoint }: DeliveryRow): DeliveryKey => ({
  eventId: event_id,
  endpoint,
});

/** A page of the deliveries of a platform. */
export const pageOfDeliveries = (
  db: Database,
  filter: DeliveryFilter,
  step: Step,
): Promise<DeliveryPage> =>
  pageOfCandidates(db, filter, step, (nextStep) => deliveryKeys(db, filter, nextStep));

/** A page of the deliveries that match a filter, among candidates in the order of the list. */
export async function pageOfCandidates(
  db: Pick<Database, 'query'>,
  filter: DetailsFilter,
  { order, after, limit }: Step,
  readCandidates: (step: Step) => Promise<PlatformKey[]>,
): Promise<DeliveryPage> {
  const startedAt = performance.now();
  const rows: DeliveryRow[] = [];
  let length = isSelective(filter) ? Math.max(limit + 1, MIN_STEP_SIZE) : limit + 1;
  let position = after;
  for (;;) {
    const keys = await readCandidates({ order, after: position, limit: length });
    const remainingCount = limit + 1 - rows.length;
    if (keys.length)
      rows.push(...(await deliveryDetails(db, filter, keys, { order, limit: remainingCount })));
    if (rows.length > limit) {
      const page = rows.slice(0, limit);
      return { rows: page, end: keyOf(page.at(-1) as DeliveryRow) };
    }
    position = keys.at(-1);
    if (keys.length < length) return { rows, end: undefined };
    if (performance.now() - startedAt > PAGE_MS) return { rows, end: position };
    length = Math.min(MAX_STEP_SIZE, Math.max(MIN_STEP_SIZE, length * 2));
  }
}
