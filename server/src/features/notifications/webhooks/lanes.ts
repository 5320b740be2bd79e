// Concurrency limits for webhook delivery. Every platform has a lane with a number of slots; a success adds
// one, a failure halves them, so an unavailable receiver occupies one request and does not slow the others.
// Events of one resource are delivered sequentially, which keeps a payment's events in order; balance events
// are delivered in parallel, because a busy account emits them faster than a distant receiver can respond
// one by one. No I/O here: the deliverer reads, sends and records.
import type { Time } from '../../../kernel/effects.ts';
import type { DueEvent } from './store.ts';

export interface Limits {
  /** Maximum requests in flight to one platform. */
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
/** Idle lanes are deleted beyond this number of lanes. */
const MAX_IDLE_LANES = 10_000;

interface Lane {
  readonly platformId: string;
  /** End of this process's lease on the platform; 0 without one. */
  until: Time;
  slots: number;
  /** Whether the latest delivery succeeded; null before the first. */
  healthy: boolean | null;
  meanMs: number;
  inFlight: number;
  queue: DueEvent[];
  /** Ids of events that were read and whose result is not yet recorded. */
  readonly buffered: Set<string>;
  /** Resources with an event in flight. */
  readonly busy: Set<string>;
}

interface DeliveryOutcome {
  delivered: boolean;
  ms: number;
}

export interface Lanes {
  /** How many more events of a platform to read now. */
  room(platformId: string): number;
  /** Ids of a platform's buffered events. */
  buffered(platformId: string): ReadonlySet<string>;
  /** Adds an event to the queue of its lane. */
  add(event: DueEvent): void;
  /** Removes up to `most` sendable events from the queues; they count as in flight. */
  next(most?: number): DueEvent[];
  /** Ends an event that `next` returned; the outcome is null if it was not sent. */
  done(event: DueEvent, outcome: DeliveryOutcome | null): void;
  /** The result of an event is recorded. */
  recorded(event: DueEvent): void;
  /** End of this process's lease on a platform. */
  leaseOf(platformId: string): Time;
  setLease(platformId: string, until: Time): void;
  /** Another process has the platform: clears its queue. */
  dropLease(platformId: string): void;
  /** Platforms with buffered events. */
  active(): string[];
  /** Platforms whose lease has not ended by `now`. */
  leased(now: Time): string[];
  /** Empties the queues. */
  clear(): void;
  /** Buffered events, and the part of them that is still queued. */
  readonly total: number;
  readonly queued: number;
}

/** Whether events of this subject are delivered sequentially. */
const inOrder = (event: DueEvent) => event.balance === null;

const within = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));

const newLane = (platformId: string, slots: number): Lane => ({
  platformId,
  until: 0,
  slots,
  healthy: null,
  meanMs: 0,
  inFlight: 0,
  queue: [],
  buffered: new Set(),
  busy: new Set(),
});

export function createLanes(limits: Limits): Lanes {
  const lanes = new Map<string, Lane>();
  /** Lanes with something in their queue. */
  const waiting = new Set<Lane>();
  let total = 0;
  let inFlight = 0;
  let failingInFlight = 0;
  // Failing receivers, however many, get at most half of the requests in flight.
  const failingMax = Math.ceil(limits.inFlightTotal / 2);

  function laneOf(platformId: string): Lane {
    const known = lanes.get(platformId);
    if (known) return known;
    if (lanes.size >= MAX_IDLE_LANES) {
      for (const [id, lane] of lanes) if (!lane.buffered.size) lanes.delete(id);
    }
    const lane = newLane(platformId, Math.min(INITIAL_SLOTS, limits.perPlatform));
    lanes.set(platformId, lane);
    return lane;
  }

  /** Number of events worth buffering for a lane. */
  function capacity(lane: Lane): number {
    // Read-ahead uses at most half of the buffer; the other half is reserved for other lanes.
    const ahead = lane.healthy && total < limits.buffered / 2;
    const rounds = ahead ? within(1, AHEAD_MS / Math.max(1, lane.meanMs), AHEAD_ROUNDS) : 1;
    return Math.floor(lane.slots * rounds);
  }

  function release(lane: Lane, id: string): void {
    if (lane.buffered.delete(id)) total--;
  }

  /** Drops all but the first `most` of a queue; they are still due in the database. */
  function shorten(lane: Lane, most: number): void {
    for (const event of lane.queue.splice(most)) release(lane, event.id);
    if (!lane.queue.length) waiting.delete(lane);
  }

  function take(lane: Lane): DueEvent | undefined {
    if (lane.inFlight >= lane.slots) return undefined;
    if (lane.healthy === false && failingInFlight >= failingMax) return undefined;
    const at = lane.queue.findIndex((event) => !inOrder(event) || !lane.busy.has(event.subject));
    if (at < 0) return undefined;
    const [event] = lane.queue.splice(at, 1) as [DueEvent];
    lane.inFlight++;
    inFlight++;
    if (inOrder(event)) lane.busy.add(event.subject);
    if (lane.healthy === false) failingInFlight++;
    return event;
  }

  function next(most = Number.POSITIVE_INFINITY): DueEvent[] {
    const out: DueEvent[] = [];
    // Round robin: a lane that was served moves to the end.
    for (const lane of waiting) {
      if (inFlight >= limits.inFlightTotal || out.length >= most) break;
      const event = take(lane);
      if (!event) continue;
      out.push(event);
      waiting.delete(lane);
      if (lane.queue.length) waiting.add(lane);
    }
    return out;
  }

  function recordDelivery(lane: Lane, { delivered, ms }: DeliveryOutcome): void {
    // All requests in flight on the lane count as failing while the lane is unhealthy.
    if (lane.healthy === false) failingInFlight -= lane.inFlight;
    if (!delivered) failingInFlight += lane.inFlight;
    lane.healthy = delivered;
    lane.slots = delivered
      ? Math.min(limits.perPlatform, lane.slots + 1)
      : Math.max(1, Math.floor(lane.slots / 2));
    lane.meanMs = lane.meanMs ? lane.meanMs * (1 - LATEST_WEIGHT) + ms * LATEST_WEIGHT : ms;
    // A receiver that became slow must not keep buffer space from others.
    if (lane.queue.length > 2 * capacity(lane)) shorten(lane, capacity(lane));
  }

  function done(event: DueEvent, outcome: DeliveryOutcome | null): void {
    const lane = laneOf(event.platform_id);
    lane.inFlight--;
    inFlight--;
    if (lane.healthy === false) failingInFlight--;
    if (inOrder(event)) lane.busy.delete(event.subject);
    if (outcome) recordDelivery(lane, outcome);
    else release(lane, event.id);
  }

  return {
    room(platformId) {
      const lane = laneOf(platformId);
      const wanted = capacity(lane) - lane.buffered.size;
      return Math.max(0, Math.min(wanted, limits.buffered - total));
    },
    buffered: (platformId) => laneOf(platformId).buffered,
    add(event) {
      const lane = laneOf(event.platform_id);
      if (lane.buffered.has(event.id)) return;
      lane.buffered.add(event.id);
      total++;
      lane.queue.push(event);
      waiting.add(lane);
    },
    next,
    done,
    recorded: (event) => release(laneOf(event.platform_id), event.id),
    leaseOf: (platformId) => laneOf(platformId).until,
    setLease(platformId, until) {
      laneOf(platformId).until = until;
    },
    dropLease(platformId) {
      const lane = laneOf(platformId);
      lane.until = 0;
      shorten(lane, 0);
    },
    active: () => [...lanes.values()].filter((lane) => lane.buffered.size).map((l) => l.platformId),
    leased: (now) =>
      [...lanes.values()].filter((lane) => lane.until > now).map((l) => l.platformId),
    clear() {
      for (const lane of waiting) shorten(lane, 0);
    },
    get total() {
      return total;
    },
    get queued() {
      let sum = 0;
      for (const lane of waiting) sum += lane.queue.length;
      return sum;
    },
  };
}
