// How much of the server one receiver may have. Every platform has a lane with a few slots: an answer
// widens it, a failure halves it, so a receiver that is down costs one waiting request and a healthy one
// is served at full speed beside it. Events of one resource go one after another, which keeps a payment's
// story in order; balances are the exception, because a busy account makes them faster than a distant
// receiver could take them singly. No IO here: the deliverer reads, sends and reports back.
import type { Time } from '../../../kernel/effects.ts';
import type { DueEvent } from './store.ts';

export interface Limits {
  /** Requests under way to one platform at most. */
  perPlatform: number;
  /** Requests under way in all. */
  inAll: number;
  /** Events read and not yet recorded, in all. */
  inHand: number;
}

export const LIMITS: Limits = { perPlatform: 8, inAll: 1_024, inHand: 8_192 };

/** A lane that nobody knows yet starts narrow. */
const FIRST_SLOTS = 2;
/** How far ahead of the receiver events are read, in time and in rounds of the slots. */
const AHEAD_MS = 1_000;
const AHEAD_ROUNDS = 64;
/** Weight of the newest answer in the running mean of a lane's answer time. */
const NEWEST = 0.2;
/** Lanes remembered while nothing is to be sent on them. */
const MAX_IDLE_LANES = 10_000;

interface Lane {
  readonly platformId: string;
  /** End of our lease on the platform; long ago where we have none. */
  until: Time;
  slots: number;
  /** Whether the latest request was answered as it should be; null before the first. */
  healthy: boolean | null;
  meanMs: number;
  inFlight: number;
  queue: DueEvent[];
  /** Ids of events that were read and whose result is not written yet. */
  readonly inHand: Set<string>;
  /** Resources with an event under way. */
  readonly busy: Set<string>;
}

interface Verdict {
  delivered: boolean;
  ms: number;
}

export interface Lanes {
  /** How many more events of a platform to read now. */
  room(platformId: string): number;
  /** Ids of a platform's events that are in hand. */
  inHand(platformId: string): ReadonlySet<string>;
  /** Takes an event into its lane. */
  add(event: DueEvent): void;
  /** Events that may be sent now, up to `most`, counted as under way from here on. */
  next(most?: number): DueEvent[];
  /** An event that `next` gave is through; the verdict is null when it was not tried after all. */
  done(event: DueEvent, verdict: Verdict | null): void;
  /** What came of an event is written. */
  written(event: DueEvent): void;
  /** When our lease on a platform ends. */
  leaseOf(platformId: string): Time;
  /** Our lease on a platform ends then. */
  hold(platformId: string, until: Time): void;
  /** A platform is another's: what waits for it is forgotten. */
  lose(platformId: string): void;
  /** Platforms with something in hand. */
  active(): string[];
  /** Platforms whose lease has not ended by `now`. */
  leased(now: Time): string[];
  /** Empties the queues. */
  clear(): void;
  /** Events in hand, and those of them that wait for their turn. */
  readonly total: number;
  readonly queued: number;
}

/** Whether two events of its subject must not be under way together. */
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
  inHand: new Set(),
  busy: new Set(),
});

export function createLanes(limits: Limits): Lanes {
  const lanes = new Map<string, Lane>();
  /** Lanes with something in their queue. */
  const waiting = new Set<Lane>();
  let total = 0;
  let inFlight = 0;
  let failingInFlight = 0;
  // Receivers that fail, however many, may not take all there is from those that do not.
  const failingMax = Math.ceil(limits.inAll / 2);

  function laneOf(platformId: string): Lane {
    const known = lanes.get(platformId);
    if (known) return known;
    if (lanes.size >= MAX_IDLE_LANES) {
      for (const [id, lane] of lanes) if (!lane.inHand.size) lanes.delete(id);
    }
    const lane = newLane(platformId, Math.min(FIRST_SLOTS, limits.perPlatform));
    lanes.set(platformId, lane);
    return lane;
  }

  /** How many events a lane makes good use of at a time. */
  function capacity(lane: Lane): number {
    // Far ahead only while there is plenty: the other half is for those who come later.
    const ahead = lane.healthy && total < limits.inHand / 2;
    const rounds = ahead ? within(1, AHEAD_MS / Math.max(1, lane.meanMs), AHEAD_ROUNDS) : 1;
    return Math.floor(lane.slots * rounds);
  }

  function letGo(lane: Lane, id: string): void {
    if (lane.inHand.delete(id)) total--;
  }

  /** Forgets all but the first `most` of a queue; they are still due in the database. */
  function shorten(lane: Lane, most: number): void {
    for (const event of lane.queue.splice(most)) letGo(lane, event.id);
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
    // A lane that was served goes to the end, so that a full house is shared evenly.
    for (const lane of waiting) {
      if (inFlight >= limits.inAll || out.length >= most) break;
      const event = take(lane);
      if (!event) continue;
      out.push(event);
      waiting.delete(lane);
      if (lane.queue.length) waiting.add(lane);
    }
    return out;
  }

  function judge(lane: Lane, { delivered, ms }: Verdict): void {
    // What else is under way on the lane counts by the lane's present name.
    if (lane.healthy === false) failingInFlight -= lane.inFlight;
    if (!delivered) failingInFlight += lane.inFlight;
    lane.healthy = delivered;
    lane.slots = delivered
      ? Math.min(limits.perPlatform, lane.slots + 1)
      : Math.max(1, Math.floor(lane.slots / 2));
    lane.meanMs = lane.meanMs ? lane.meanMs * (1 - NEWEST) + ms * NEWEST : ms;
    // A receiver that became slow must not keep the room of others.
    if (lane.queue.length > 2 * capacity(lane)) shorten(lane, capacity(lane));
  }

  function done(event: DueEvent, verdict: Verdict | null): void {
    const lane = laneOf(event.platform_id);
    lane.inFlight--;
    inFlight--;
    if (lane.healthy === false) failingInFlight--;
    if (inOrder(event)) lane.busy.delete(event.subject);
    if (verdict) judge(lane, verdict);
    else letGo(lane, event.id);
  }

  return {
    room(platformId) {
      const lane = laneOf(platformId);
      const wanted = capacity(lane) - lane.inHand.size;
      return Math.max(0, Math.min(wanted, limits.inHand - total));
    },
    inHand: (platformId) => laneOf(platformId).inHand,
    add(event) {
      const lane = laneOf(event.platform_id);
      if (lane.inHand.has(event.id)) return;
      lane.inHand.add(event.id);
      total++;
      lane.queue.push(event);
      waiting.add(lane);
    },
    next,
    done,
    written: (event) => letGo(laneOf(event.platform_id), event.id),
    leaseOf: (platformId) => laneOf(platformId).until,
    hold(platformId, until) {
      laneOf(platformId).until = until;
    },
    lose(platformId) {
      const lane = laneOf(platformId);
      lane.until = 0;
      shorten(lane, 0);
    },
    active: () => [...lanes.values()].filter((lane) => lane.inHand.size).map((l) => l.platformId),
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
