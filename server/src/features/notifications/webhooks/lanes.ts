// Concurrency limits for webhook delivery, without I/O. Every endpoint has a lane, whose number of
// slots grows by one after a success and is halved after a failure. The lanes of one platform share
// its maximum. A lane without a request in flight may exceed it by one, so that a slow endpoint
// does not stop the others.
import type { Time } from '../../../kernel/effects.ts';
import { createLaneQueue, type LaneQueue } from './lane-queue.ts';
import type { DueEvent, LaneId } from './store.ts';

export interface Limits {
  /** Maximum requests in flight to one platform, exceeded only by the first request of a lane. */
  perPlatform: number;
  /** Maximum requests in flight in total. */
  inFlightTotal: number;
  /** Maximum events read and not yet recorded, in total. */
  buffered: number;
}

export const LIMITS: Limits = { perPlatform: 8, inFlightTotal: 1_024, buffered: 8_192 };

const INITIAL_SLOTS = 2;
/** Maximum read-ahead, in time and in rounds of the slots. */
const AHEAD_MS = 1_000;
const AHEAD_ROUNDS = 64;
/** Weight of the latest response time in a lane's moving average. */
const LATEST_WEIGHT = 0.2;
/** Idle lanes are deleted at this number of lanes, and again each time the number has doubled. */
const PRUNE_AT = 10_000;

interface Platform {
  readonly id: string;
  /** Expiry of this process's lease on the platform. 0 without a lease. */
  until: Time;
  /** Requests in flight to all of its endpoints. */
  inFlight: number;
  readonly lanes: Map<number, Lane>;
  /** Lanes that wait until fewer requests of the platform are in flight. */
  readonly waitingLanes: Set<Lane>;
}

interface Lane {
  readonly platform: Platform;
  slots: number;
  /** Whether the latest delivery succeeded, or null before the first delivery. */
  isHealthy: boolean | null;
  meanMs: number;
  inFlight: number;
  readonly queue: LaneQueue;
  /** IDs of events that were read and whose result is not yet recorded. */
  readonly bufferedIds: Set<string>;
}

interface DeliveryOutcome {
  delivered: boolean;
  ms: number;
}

export interface Lanes {
  /** Number of further events of an endpoint to read now. */
  capacity(lane: LaneId): number;
  /** IDs of an endpoint's buffered events. */
  buffered(lane: LaneId): ReadonlySet<string>;
  /** Adds an event to the queue of its lane. */
  add(event: DueEvent): void;
  /**
   * Removes up to `maximum` sendable events from the queues. The removed events count as in flight.
   */
  next(maximum?: number): DueEvent[];
  /** Completes an event that `next` returned. The outcome is null if the event was not sent. */
  done(event: DueEvent, outcome: DeliveryOutcome | null): void;
  /** Removes an event whose result is recorded from the buffer. */
  recorded(event: DueEvent): void;
  /** Expiry of this process's lease on a platform, or 0 without a lease. */
  leaseOf(platformId: string): Time;
  setLease(platformId: string, until: Time): void;
  /** Removes the lease of a platform and clears its queues. */
  dropLease(platformId: string): void;
  /** Whether no event of a platform is buffered. */
  isIdle(platformId: string): boolean;
  /** Platforms with buffered events. */
  active(): string[];
  /** Platforms whose lease has not expired at `now`. */
  leased(now: Time): string[];
  /** Empties the queues. */
  clear(): void;
  /** Number of buffered events, and of those still queued. */
  readonly total: number;
  readonly queued: number;
}

const clamp = (minimum: number, value: number, maximum: number) =>
  Math.min(maximum, Math.max(minimum, value));

const createPlatform = (id: string): Platform => ({
  id,
  until: 0,
  inFlight: 0,
  lanes: new Map(),
  waitingLanes: new Set(),
});

const createLane = (platform: Platform, slots: number): Lane => ({
  platform,
  slots,
  isHealthy: null,
  meanMs: 0,
  inFlight: 0,
  queue: createLaneQueue(),
  bufferedIds: new Set(),
});

/**
 * The next event is chosen in constant time, because lanes that cannot send now are not visited.
 */
export function createLanes(limits: Limits): Lanes {
  const platforms = new Map<string, Platform>();
  /** Lanes with a buffered event. */
  const activeLanes = new Set<Lane>();
  /** Lanes that may have an event to send, in the order in which they are served. */
  const sendableLanes = new Set<Lane>();
  /** Lanes of failing receivers that wait until fewer of their requests are in flight. */
  const stalledLanes = new Set<Lane>();
  let laneCount = 0;
  let pruneAt = PRUNE_AT;
  let total = 0;
  let queuedCount = 0;
  let inFlight = 0;
  let failingInFlight = 0;
  // No request to a failing receiver starts while such requests reach half of the total maximum.
  const failingMax = Math.ceil(limits.inFlightTotal / 2);

  function prune(): void {
    for (const platform of platforms.values()) {
      for (const [number, lane] of platform.lanes) {
        if (lane.bufferedIds.size) continue;
        platform.lanes.delete(number);
        laneCount--;
      }
      if (!platform.lanes.size) platforms.delete(platform.id);
    }
    pruneAt = Math.max(PRUNE_AT, 2 * laneCount);
  }

  function platformOf(id: string): Platform {
    const existingPlatform = platforms.get(id);
    if (existingPlatform) return existingPlatform;
    const platform = createPlatform(id);
    platforms.set(id, platform);
    return platform;
  }

  function laneOf(platformId: string, endpoint: number): Lane {
    const existingLane = platforms.get(platformId)?.lanes.get(endpoint);
    if (existingLane) return existingLane;
    if (laneCount >= pruneAt) prune();
    const platform = platformOf(platformId);
    const lane = createLane(platform, Math.min(INITIAL_SLOTS, limits.perPlatform));
    platform.lanes.set(endpoint, lane);
    laneCount++;
    return lane;
  }

  const laneOfEvent = (event: DueEvent) => laneOf(event.platform_id, event.endpoint);

  /** Maximum number of events to buffer for a lane. */
  function capacityOf(lane: Lane): number {
    // Events are read ahead only while less than half of the buffer is used.
    const canReadAhead = lane.isHealthy && total < limits.buffered / 2;
    const rounds = canReadAhead ? clamp(1, AHEAD_MS / Math.max(1, lane.meanMs), AHEAD_ROUNDS) : 1;
    return Math.floor(lane.slots * rounds);
  }

  function release(lane: Lane, id: string): void {
    if (!lane.bufferedIds.delete(id)) return;
    total--;
    if (!lane.bufferedIds.size) activeLanes.delete(lane);
  }

  /**
   * Drops all events of a queue after the first `maximum`. Dropped events remain due in the
   * database.
   */
  function shorten(lane: Lane, maximum: number): void {
    const droppedEvents = lane.queue.shorten(maximum);
    queuedCount -= droppedEvents.length;
    for (const event of droppedEvents) release(lane, event.id);
  }

  /** The next event of a lane. A lane without a sendable event is no longer visited. */
  function take(lane: Lane): DueEvent | undefined {
    const isFailing = lane.isHealthy === false;
    sendableLanes.delete(lane);
    if (lane.inFlight >= lane.slots) return undefined;
    if (lane.inFlight > 0 && lane.platform.inFlight >= limits.perPlatform) {
      if (lane.queue.isReady) lane.platform.waitingLanes.add(lane);
      return undefined;
    }
    if (isFailing && failingInFlight >= failingMax) {
      if (lane.queue.isReady) stalledLanes.add(lane);
      return undefined;
    }
    const event = lane.queue.take();
    if (!event) return undefined;
    queuedCount--;
    lane.inFlight++;
    lane.platform.inFlight++;
    inFlight++;
    if (isFailing) failingInFlight++;
    if (lane.queue.isReady) sendableLanes.add(lane);
    return event;
  }

  function takeSendable(maximum = Number.POSITIVE_INFINITY): DueEvent[] {
    const sendableEvents: DueEvent[] = [];
    // Round robin: a lane that was served moves to the end.
    for (const lane of sendableLanes) {
      if (inFlight >= limits.inFlightTotal || sendableEvents.length >= maximum) break;
      const event = take(lane);
      if (event) sendableEvents.push(event);
    }
    return sendableEvents;
  }

  function resumeStalled(): void {
    let freeRequests = failingMax - failingInFlight;
    for (const lane of stalledLanes) {
      if (freeRequests-- <= 0) break;
      stalledLanes.delete(lane);
      sendableLanes.add(lane);
    }
  }

  function recordDelivery(lane: Lane, { delivered, ms }: DeliveryOutcome): void {
    // All requests in flight on the lane count as failing while the lane is unhealthy.
    if (lane.isHealthy === false) failingInFlight -= lane.inFlight;
    if (!delivered) failingInFlight += lane.inFlight;
    lane.isHealthy = delivered;
    lane.slots = delivered
      ? Math.min(limits.perPlatform, lane.slots + 1)
      : Math.max(1, Math.floor(lane.slots / 2));
    lane.meanMs = lane.meanMs ? lane.meanMs * (1 - LATEST_WEIGHT) + ms * LATEST_WEIGHT : ms;
    // Releases the buffer space of a receiver that became slow.
    if (lane.queue.size > 2 * capacityOf(lane)) shorten(lane, capacityOf(lane));
  }

  function finish(event: DueEvent, outcome: DeliveryOutcome | null): void {
    const lane = laneOfEvent(event);
    const { waitingLanes } = lane.platform;
    lane.inFlight--;
    lane.platform.inFlight--;
    inFlight--;
    if (lane.isHealthy === false) failingInFlight--;
    lane.queue.end(event);
    if (outcome) recordDelivery(lane, outcome);
    else release(lane, event.id);
    if (lane.queue.isReady) sendableLanes.add(lane);
    if (waitingLanes.size) {
      for (const each of waitingLanes) sendableLanes.add(each);
      waitingLanes.clear();
    }
    if (stalledLanes.size) resumeStalled();
  }

  return {
    capacity({ platformId, endpoint }) {
      const lane = laneOf(platformId, endpoint);
      const freeCapacity = capacityOf(lane) - lane.bufferedIds.size;
      return Math.max(0, Math.min(freeCapacity, limits.buffered - total));
    },
    buffered: ({ platformId, endpoint }) => laneOf(platformId, endpoint).bufferedIds,
    add(event) {
      const lane = laneOfEvent(event);
      if (lane.bufferedIds.has(event.id)) return;
      lane.bufferedIds.add(event.id);
      activeLanes.add(lane);
      total++;
      queuedCount++;
      lane.queue.push(event);
      if (lane.queue.isReady) sendableLanes.add(lane);
    },
    next: takeSendable,
    done: finish,
    recorded: (event) => release(laneOfEvent(event), event.id),
    leaseOf: (platformId) => platforms.get(platformId)?.until ?? 0,
    setLease(platformId, until) {
      platformOf(platformId).until = until;
    },
    dropLease(platformId) {
      const platform = platformOf(platformId);
      platform.until = 0;
      for (const lane of platform.lanes.values()) shorten(lane, 0);
    },
    isIdle(platformId) {
      const lanes = platforms.get(platformId)?.lanes.values() ?? [];
      return [...lanes].every((lane) => lane.bufferedIds.size === 0);
    },
    active: () => [...new Set([...activeLanes].map((lane) => lane.platform.id))],
    leased: (now) =>
      [...platforms.values()].filter(({ until }) => until > now).map((platform) => platform.id),
    clear() {
      for (const lane of activeLanes) shorten(lane, 0);
    },
    get total() {
      return total;
    },
    get queued() {
      return queuedCount;
    },
  };
}
