// One page of the list of events. A filter by type, customer or resource may match few of very many
// events. A page is therefore read in steps of positions and returned after a bounded time. A page
// can be shorter than requested although `hasMore` is true.
import type { Database } from '../../../runtime/db/database.ts';
import type { EventPosition } from './cursor.ts';
import {
  type EventFilter,
  type EventRow,
  eventsIn,
  firstPositionOf,
  LOWEST_POSITION,
  type Range,
} from './store.ts';

/** Number of positions in the first step. The number doubles while steps are fast. */
const FIRST_STEP = 4_096n;
const SHORT_STEP_MS = 20;
/** Time after which no further step of a page begins. */
const PAGE_MS = 100;

export interface Walk {
  rows: EventRow[];
  /** End of the walk: each event before it, in its order, is in `rows` or does not match. */
  end: EventPosition;
  hasMore: boolean;
}

/** Whether a filter may skip very many events. */
const isSelective = ({ types, resourceId, customerKey }: EventFilter) =>
  types !== undefined || resourceId !== undefined || customerKey !== undefined;

const greaterOf = (a: bigint, b: bigint) => (a > b ? a : b);
const lesserOf = (a: bigint, b: bigint) => (a < b ? a : b);

/** The next step of a range, and the remaining range. */
function split({ order, low, high, ...rest }: Range, length: bigint | undefined) {
  if (length === undefined) return { stepRange: { order, low, high, ...rest }, next: undefined };
  const splitPosition =
    order === 'asc' ? lesserOf(low + length, high) : greaterOf(high - length, low);
  const isLast = order === 'asc' ? splitPosition === high : splitPosition === low;
  const [bounds, remainingBounds] =
    order === 'asc'
      ? [
          { low, high: splitPosition },
          { low: splitPosition, high },
        ]
      : [
          { low: splitPosition, high },
          { low, high: splitPosition },
        ];
  return {
    stepRange: { order, ...bounds, ...rest },
    next: isLast ? undefined : { order, ...remainingBounds, ...rest },
  };
}

const positionOf = ({ position, id }: EventPosition): EventPosition => ({ position, id });

/** Up to `limit` events of a range, from the position `from` in its order. */
export async function readSteps(
  db: Database,
  filter: EventFilter,
  fullRange: Range,
): Promise<Walk> {
  const { order, from, limit } = fullRange;
  const startedAt = performance.now();
  // Steps begin at the oldest event instead of the lowest position.
  const firstPosition = isSelective(filter)
    ? await firstPositionOf(db, filter.platformId)
    : LOWEST_POSITION;
  const range = { ...fullRange, low: greaterOf(fullRange.low, firstPosition ?? fullRange.high) };
  // Positions before the start of the page are not read.
  let remainingRange: Range | undefined =
    order === 'asc'
      ? { ...range, low: greaterOf(range.low, from.position) }
      : { ...range, high: lesserOf(range.high, from.position + 1n) };
  let length = isSelective(filter) ? FIRST_STEP : undefined;
  const rows: EventRow[] = [];
  while (remainingRange && remainingRange.low < remainingRange.high) {
    const stepStartedAt = performance.now();
    const { stepRange, next } = split(remainingRange, length);
    rows.push(...(await eventsIn(db, filter, { ...stepRange, limit: limit + 1 - rows.length })));
    if (rows.length > limit) {
      const pageEvents = rows.slice(0, limit);
      return { rows: pageEvents, end: positionOf(pageEvents.at(-1) as EventRow), hasMore: true };
    }
    remainingRange = next;
    if (length !== undefined && performance.now() - stepStartedAt < SHORT_STEP_MS) length *= 2n;
    if (remainingRange && performance.now() - startedAt > PAGE_MS) {
      return {
        rows,
        end: { position: order === 'asc' ? remainingRange.low : remainingRange.high, id: '' },
        hasMore: true,
      };
    }
  }
  return {
    rows,
    end: { position: order === 'asc' ? range.high : range.low, id: '' },
    hasMore: false,
  };
}
