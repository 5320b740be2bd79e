// The events of a replay: their number, and the next events after a position.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { countUndelivered, eventIdsOf, pageOfDeliveries } from '../deliveries/index.ts';
import { receivesType, type Target } from '../endpoints/index.ts';
import { type Counted, countEvents, eventsAfter } from '../events/index.ts';
import { MAX_EVENTS } from './contract.ts';
import type { ReplayScope } from './store.ts';

export interface ReplayRange {
  platformId: string;
  target: Target;
  scope: ReplayScope;
  from: Time;
  to: Time;
  /** Whether the platform has its own clock. */
  ownClock: boolean;
}

const boundsOf = ({ platformId, from, to, ownClock }: ReplayRange) => ({
  platformId,
  // On a platform without its own clock, IDs of events contain the time at which they occurred.
  ...(ownClock ? eventIdsOf(0, undefined) : eventIdsOf(from, to)),
  createdAfter: from,
  createdBefore: to,
});

const eventsOf = ({ platformId, target, from, to }: ReplayRange) => ({
  platformId,
  types: target.eventTypes ?? undefined,
  createdAfter: from,
  createdBefore: to,
});

/** Counts the events, at most one more than the maximum. */
export const countReplay = (db: Database, range: ReplayRange): Promise<Counted> =>
  range.scope === 'ALL'
    ? countEvents(db, eventsOf(range), MAX_EVENTS)
    : countUndelivered(db, { ...boundsOf(range), endpoint: range.target.number }, MAX_EVENTS);

interface ReplayStep {
  eventIds: string[];
  /** The position from which to continue, or null at the end. */
  place: string | null;
}

/** The next events of a replay, oldest first. */
export async function nextEvents(
  db: Database,
  range: ReplayRange,
  position: string | null,
  limit: number,
): Promise<ReplayStep> {
  const { target, scope } = range;
  const idsOf = (events: readonly { id: string; type: string }[]) =>
    events.filter(({ type }) => type !== 'TEST' && receivesType(target, type)).map(({ id }) => id);
  if (scope === 'ALL') {
    const step = await eventsAfter(db, eventsOf(range), position, limit);
    return { eventIds: idsOf(step.events), place: step.cursor };
  }
  const filter = { ...boundsOf(range), endpoints: [target.number], status: scope };
  const after = position === null ? undefined : { eventId: position, endpoint: target.number };
  const { rows, end } = await pageOfDeliveries(db, filter, { order: 'asc', after, limit });
  const eventIds = rows.filter(({ type }) => type !== 'TEST').map(({ event_id }) => event_id);
  return { eventIds, place: end?.eventId ?? null };
}
