// One page of the list of events. A filter by type, customer or resource may match few of very many
// events, so the order is read in steps of positions and each page ends after a bounded time; it is
// then shorter than requested and says that there is more.
import type { Database } from '../../../runtime/db/database.ts';
import type { Place } from './cursor.ts';
import {
  type EventFilter,
  type EventRow,
  eventsIn,
  firstPositionOf,
  LOWEST,
  type Range,
} from './store.ts';

/** Positions of the first step; the length doubles while steps are short. */
const FIRST_STEP = 4_096n;
const SHORT_STEP_MS = 20;
/** A page ends when it has taken this long. */
const PAGE_MS = 100;

export interface Walk {
  rows: EventRow[];
  /** Where the walk has ended: everything before it, in its order, is in `rows` or does not match. */
  end: Place;
  hasMore: boolean;
}

/** Whether a filter may skip very many events. */
const isSelective = ({ types, resourceId, customerKey }: EventFilter) =>
  types !== undefined || resourceId !== undefined || customerKey !== undefined;

const greater = (a: bigint, b: bigint) => (a > b ? a : b);
const lesser = (a: bigint, b: bigint) => (a < b ? a : b);

/** The next part of what is left of a range, and what is left after it. */
function split({ order, low, high, ...rest }: Range, length: bigint | undefined) {
  if (length === undefined) return { part: { order, low, high, ...rest }, left: undefined };
  const cut = order === 'asc' ? lesser(low + length, high) : greater(high - length, low);
  const isLast = order === 'asc' ? cut === high : cut === low;
  const [part, left] =
    order === 'asc'
      ? [
          { low, high: cut },
          { low: cut, high },
        ]
      : [
          { low: cut, high },
          { low, high: cut },
        ];
  return {
    part: { order, ...part, ...rest },
    left: isLast ? undefined : { order, ...left, ...rest },
  };
}

const place = ({ position, id }: Place): Place => ({ position, id });

/** Up to `limit` events of a range that begins at its place. */
export async function walk(db: Database, filter: EventFilter, whole: Range): Promise<Walk> {
  const { order, from, limit } = whole;
  const started = performance.now();
  // Steps begin at the oldest event and not at the lowest number.
  const first = isSelective(filter) ? await firstPositionOf(db, filter.platformId) : LOWEST;
  const range = { ...whole, low: greater(whole.low, first ?? whole.high) };
  // Steps begin at the place; the positions before it are not read.
  let rest: Range | undefined =
    order === 'asc'
      ? { ...range, low: greater(range.low, from.position) }
      : { ...range, high: lesser(range.high, from.position + 1n) };
  let length = isSelective(filter) ? FIRST_STEP : undefined;
  const rows: EventRow[] = [];
  while (rest && rest.low < rest.high) {
    const begun = performance.now();
    const { part, left } = split(rest, length);
    rows.push(...(await eventsIn(db, filter, { ...part, limit: limit + 1 - rows.length })));
    if (rows.length > limit) {
      const storedEvents = rows.slice(0, limit);
      return { rows: storedEvents, end: place(storedEvents.at(-1) as EventRow), hasMore: true };
    }
    rest = left;
    if (length !== undefined && performance.now() - begun < SHORT_STEP_MS) length *= 2n;
    if (rest && performance.now() - started > PAGE_MS) {
      return {
        rows,
        end: { position: order === 'asc' ? rest.low : rest.high, id: '' },
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
