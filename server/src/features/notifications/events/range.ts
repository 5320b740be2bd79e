// Events of a time range for other features: their number, and their IDs in the order of the list.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { EventPosition } from './cursor.ts';
import { boundsOf, countIn, type EventFilter, horizonOf, LOWEST_POSITION } from './store.ts';
import { readSteps } from './walk.ts';

export interface EventRange {
  platformId: string;
  /** Undefined for all types. */
  types?: readonly string[] | undefined;
  createdAfter: Time;
  createdBefore: Time;
}

/** Counts the events of a range, without test events. The count is at most `maximum` + 1. */
export async function countEvents(db: Database, range: EventRange, maximum: number) {
  const { low, high } = await boundsOf(db, range, await horizonOf(db));
  return countIn(db, range, { low, high }, maximum);
}

const POSITION_FORM = /^(-?\d{1,19}) ([\x21-\x7e]{0,200})$/;

function positionOf(text: string | null): EventPosition {
  const [, position, id] = POSITION_FORM.exec(text ?? '') ?? [];
  return position === undefined || id === undefined
    ? { position: LOWEST_POSITION, id: '' }
    : { position: BigInt(position), id };
}

export interface EventStep {
  events: { id: string; type: string }[];
  /** The position from which to continue, or null at the end of the range. */
  cursor: string | null;
}

/**
 * The next events of a range after a position, oldest first. A step may have fewer events than
 * `limit`, or none.
 */
export async function eventsAfter(
  db: Database,
  range: EventRange,
  position: string | null,
  limit: number,
): Promise<EventStep> {
  const filter: EventFilter = range;
  const bounds = await boundsOf(db, filter, await horizonOf(db));
  const from = positionOf(position);
  const { rows, end, hasMore } = await readSteps(db, filter, {
    order: 'asc',
    ...bounds,
    from,
    limit,
  });
  return {
    events: rows.map(({ id, type }) => ({ id, type })),
    cursor: hasMore ? `${end.position} ${end.id}` : null,
  };
}
