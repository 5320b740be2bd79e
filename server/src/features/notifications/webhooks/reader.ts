// Reads due events into the lanes. A process leases a platform before it reads the events of the
// platform. Each endpoint is read up to the free capacity of its lane. Each batch continues after
// the previous batch, so every endpoint is reached, regardless of the number of endpoints.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { CONFIGURED } from '../endpoints/index.ts';
import { openData } from './envelope.ts';
import type { Lanes } from './lanes.ts';
import {
  type DueEvent,
  discardUndeliverable,
  discardUnreadable,
  dueEvents,
  type LaneId,
  lanesWithEvents,
  leasePlatforms,
  type QueuePosition,
  type ReadRequest,
  type SealedEvent,
  type WaitingEndpoint,
} from './store.ts';

/**
 * Time for which a crashed process blocks its platforms. A running process renews its leases every
 * few seconds.
 */
export const LEASE_MS = 10_000;
/** Endpoints per batch. */
const LANES_PER_BATCH = 500;
/** New leases per batch, so that several processes share the platforms. */
const NEW_LEASES_PER_BATCH = 256;
/**
 * An endpoint with a backlog is read from the end of the previous read. An event that is committed
 * later at an earlier position is found by the next read from the start. That read follows after
 * this time at the latest.
 */
const CONTINUE_MS = 1_000;
/** Events without an endpoint that are discarded in one statement. */
const DISCARD_BATCH = 5_000;

export interface ReadBatch {
  /** Number of events that were read or discarded. */
  eventCount: number;
  /** Whether this pass has further endpoints. */
  hasMore: boolean;
}

interface ReaderDeps {
  db: Database;
  vault: Vault;
  log: Log;
  lanes: Lanes;
  /** Reads only this platform. */
  onlyPlatform?: string | undefined;
}

/** The later of two positions in a queue. */
function latestOf(a: QueuePosition | undefined, b: QueuePosition | undefined) {
  if (!a || !b) return a ?? b;
  return b.due_at > a.due_at || (b.due_at === a.due_at && b.id > a.id) ? b : a;
}

/** The event with decrypted data, or undefined if it is permanently unreadable. */
function openEvent<E extends SealedEvent>(vault: Vault, log: Log, event: E): E | undefined {
  try {
    const data = openData(vault, event);
    return data === undefined ? undefined : { ...event, data };
  } catch (error) {
    const fields = { err: error, event: event.id, platformId: event.platform_id };
    log.error(fields, 'the data of an event is unreadable');
    return undefined;
  }
}

/** The events with decrypted data. Permanently unreadable events are removed from the queue. */
export async function openDeliveries<E extends SealedEvent & { endpoint: number }>(
  { db, vault, log }: Pick<ReaderDeps, 'db' | 'vault' | 'log'>,
  events: readonly E[],
): Promise<E[]> {
  const unreadableEvents: E[] = [];
  const readableEvents = events.flatMap((event) => {
    const openedEvent = openEvent(vault, log, event);
    if (!openedEvent) unreadableEvents.push(event);
    return openedEvent ?? [];
  });
  if (unreadableEvents.length) await discardUnreadable(db, unreadableEvents);
  return readableEvents;
}

const bufferedEventsOf = ({ endpoint }: LaneId, ids: ReadonlySet<string>) =>
  [...ids].map((id) => ({ id, endpoint }));

/** A position before the first endpoint of the first platform. */
const FIRST_LANE: LaneId = { platformId: '', endpoint: -1 };

const keyOf = ({ platformId, endpoint }: LaneId) =>
  endpoint === 0 ? platformId : `${platformId} ${endpoint}`;

const keyOfEvent = (event: DueEvent) =>
  keyOf({ platformId: event.platform_id, endpoint: event.endpoint });

export function createReader({ db, vault, log, lanes, onlyPlatform }: ReaderDeps, holder: string) {
  let after: LaneId | null = null;
  /**
   * Position of the last buffered event of each endpoint, and the time until which reads continue
   * from it.
   */
  const progress = new Map<string, { position: QueuePosition; until: Time }>();

  /** Continues at the last position, after which no event is buffered, or at the start. */
  function requestOf(lane: LaneId, maximum: number, now: Time): ReadRequest {
    const { platformId, endpoint } = lane;
    const bufferedCount = lanes.buffered(lane).size;
    const laneProgress = progress.get(keyOf(lane));
    if (bufferedCount && laneProgress && laneProgress.until > now) {
      return { platformId, endpoint, take: maximum, after: laneProgress.position };
    }
    if (!bufferedCount) progress.delete(keyOf(lane));
    return { platformId, endpoint, take: maximum + bufferedCount, after: null };
  }

  function noteProgress(requests: readonly ReadRequest[], events: readonly DueEvent[], now: Time) {
    const eventsByLane = new Map(requests.map((request) => [keyOf(request), [] as DueEvent[]]));
    for (const event of events) eventsByLane.get(keyOfEvent(event))?.push(event);
    for (const request of requests) {
      const key = keyOf(request);
      const { take, after } = request;
      const events = eventsByLane.get(key) ?? [];
      const previousProgress = progress.get(key);
      const position = latestOf(previousProgress?.position, events.at(-1));
      if (!position) continue;
      const isBacklog = events.length >= (after ? take : take - lanes.buffered(request).size);
      const until = after && previousProgress ? previousProgress.until : now + CONTINUE_MS;
      progress.set(key, { position, until: isBacklog ? until : 0 });
    }
  }

  function planReads(dueEndpoints: readonly WaitingEndpoint[], now: Time, total: number) {
    const requests: ReadRequest[] = [];
    const unleasedPlatforms = new Set<string>();
    let remainingEvents = total;
    for (const lane of dueEndpoints) {
      const maximum = Math.min(remainingEvents, lanes.capacity(lane));
      if (maximum > 0) requests.push(requestOf(lane, maximum, now));
      remainingEvents -= maximum;
      if (lanes.leaseOf(lane.platformId) <= now) unleasedPlatforms.add(lane.platformId);
      if (remainingEvents <= 0 || unleasedPlatforms.size >= NEW_LEASES_PER_BATCH)
        return { requests, cutAt: lane };
    }
    return { requests, cutAt: null };
  }

  /** Acquires missing leases and renews leases in the second half of their validity. */
  async function leasePending(platforms: readonly string[], now: Time): Promise<void> {
    const until = now + LEASE_MS;
    const isExpiringSoon = (each: string) => lanes.leaseOf(each) < now + LEASE_MS / 2;
    const expiringPlatforms = [...new Set(platforms)].filter(isExpiringSoon);
    if (!expiringPlatforms.length) return;
    const leasedPlatforms = new Set(
      await leasePlatforms(db, holder, expiringPlatforms, now, until),
    );
    for (const each of expiringPlatforms) {
      if (leasedPlatforms.has(each)) lanes.setLease(each, until);
      else lanes.dropLease(each);
    }
  }

  async function readEvents(requests: readonly ReadRequest[], now: Time): Promise<number> {
    await leasePending(
      requests.map((request) => request.platformId),
      now,
    );
    const leasedRequests = requests.filter((request) => lanes.leaseOf(request.platformId) > now);
    if (!leasedRequests.length) return 0;
    const bufferedEvents = leasedRequests.flatMap((request) =>
      request.after ? [] : bufferedEventsOf(request, lanes.buffered(request)),
    );
    const events = await dueEvents(db, now, leasedRequests, bufferedEvents);
    noteProgress(leasedRequests, events, now);
    for (const event of await openDeliveries({ db, vault, log }, events)) lanes.add(event);
    return events.length;
  }

  /** Endpoints with undelivered events, from the position of this pass. */
  async function findWaiting(now: Time): Promise<WaitingEndpoint[]> {
    const position =
      onlyPlatform === undefined ? after : { platformId: onlyPlatform, endpoint: -1 };
    const nextEndpoints = await lanesWithEvents(
      db,
      now,
      holder,
      position ?? FIRST_LANE,
      LANES_PER_BATCH,
    );
    return onlyPlatform === undefined
      ? nextEndpoints
      : nextEndpoints.filter(({ platformId }) => platformId === onlyPlatform);
  }

  return {
    restart() {
      after = null;
    },
    /**
     * A platform that is being released to another process is not leased again while its requests
     * complete.
     */
    renew: (now: Time) =>
      leasePending(
        lanes.active().filter((id) => lanes.leaseOf(id) > 0),
        now,
      ),
    /** Reads up to about `total` events. */
    async readBatch(now: Time, total: number): Promise<ReadBatch> {
      if (total <= 0) return { eventCount: 0, hasMore: false };
      const waitingEndpoints = await findWaiting(now);
      const dueEndpoints = waitingEndpoints.filter((each) => each.due && !each.isLeasedByOther);
      // The deliveries of a deleted endpoint are discarded before they are due.
      const undeliverableEndpoints = waitingEndpoints.filter(
        ({ target, endpoint, due, isLeasedByOther }) =>
          target === 'none' && !isLeasedByOther && (due || endpoint !== CONFIGURED),
      );
      const discardedCount = undeliverableEndpoints.length
        ? await discardUndeliverable(db, now, undeliverableEndpoints, DISCARD_BATCH)
        : 0;
      const deliverableEndpoints = dueEndpoints.filter((each) => each.target === 'url');
      const { requests, cutAt } = planReads(deliverableEndpoints, now, total);
      const lastEndpoint =
        waitingEndpoints.length === LANES_PER_BATCH ? (waitingEndpoints.at(-1) ?? null) : null;
      after = cutAt ?? lastEndpoint;
      return {
        eventCount: discardedCount + (await readEvents(requests, now)),
        hasMore: after !== null,
      };
    },
  };
}
