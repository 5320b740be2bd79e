// How much of the server one receiver may have. Every platform has a lane with a few slots: an answer
// widens it, a failure halves it, so a receiver that is down costs one waiting request and a healthy one
// is served at full speed beside it. Events of one resource go one after another, which keeps a payment's
// story in order; balances are the exception, because a busy account makes them faster than a distant
// receiver could take them singly. No IO here: the deliverer claims, sends and reports back.
import type { Claim } from './store.ts';

export interface Limits {
  /** Requests under way to one platform at most. */
  perPlatform: number;
  /** Requests under way in all. */
  inAll: number;
  /** Events claimed and not yet recorded, in all. */
  claimed: number;
}

export const LIMITS: Limits = { perPlatform: 8, inAll: 1_024, claimed: 8_192 };

/** A lane that nobody knows yet starts narrow. */
const FIRST_SLOTS = 2;
/** How far ahead of the receiver events are claimed, in time and in rounds of the slots. */
const AHEAD_MS = 1_000;
const AHEAD_ROUNDS = 32;
/** Weight of the newest answer in the running mean of a lane's answer time. */
const NEWEST = 0.2;
/** Lanes remembered while nothing is to be sent on them. */
const MAX_IDLE_LANES = 10_000;

export interface Lane {
  readonly platformId: string;
  slots: number;
  /** Whether the latest request was answered as it should be; null before the first. */
  healthy: boolean | null;
  meanMs: number;
  inFlight: number;
  readonly queue: Claim[];
  /** Resources with an event under way. */
  readonly busy: Set<string>;
}

export interface Lanes {
  /** How many more events of a platform to claim now. */
  room(platformId: string): number;
  /** Takes a claimed event into its lane. */
  add(claim: Claim): void;
  /** Events that may be sent now, counted as under way from here on. */
  next(): Claim[];
  /**
   * An event that `next` gave is through; the verdict is null when it was not tried after all. Answers
   * claims to give back, because their receiver has become too slow for them.
   */
  done(claim: Claim, verdict: { delivered: boolean; ms: number } | null): Claim[];
  /** Empties the queues; answers what was in them. */
  clear(): Claim[];
  /** Everything claimed that is not through, queued and under way. */
  held(): Claim[];
  readonly inFlight: number;
  readonly queued: number;
}

const within = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));

/** Whether two events of its subject must not be under way together. */
const inOrder = (claim: Claim) => claim.balance === null;

export function createLanes(limits: Limits): Lanes {
  const lanes = new Map<string, Lane>();
  const flying = new Set<Claim>();
  /** Lanes with something in their queue. */
  const waiting = new Set<Lane>();
  let queued = 0;
  let failingInFlight = 0;
  // Receivers that fail, however many, may not take all there is from those that do not.
  const failingMax = Math.ceil(limits.inAll / 2);

  function laneOf(platformId: string): Lane {
    let lane = lanes.get(platformId);
    if (lane) return lane;
    if (lanes.size >= MAX_IDLE_LANES) forgetIdle();
    const slots = Math.min(FIRST_SLOTS, limits.perPlatform);
    lane = {
      platformId,
      slots,
      healthy: null,
      meanMs: 0,
      inFlight: 0,
      queue: [],
      busy: new Set(),
    };
    lanes.set(platformId, lane);
    return lane;
  }

  function forgetIdle(): void {
    for (const [id, lane] of lanes) if (!lane.inFlight && !lane.queue.length) lanes.delete(id);
  }

  /** How many claims a lane makes good use of. */
  function capacity(lane: Lane): number {
    // Far ahead only while there is plenty: the other half is for those who come later.
    const ahead = lane.healthy && queued + flying.size < limits.claimed / 2;
    const rounds = ahead ? within(1, AHEAD_MS / Math.max(1, lane.meanMs), AHEAD_ROUNDS) : 1;
    return Math.floor(lane.slots * rounds);
  }

  function room(platformId: string): number {
    const lane = laneOf(platformId);
    const wanted = capacity(lane) - lane.inFlight - lane.queue.length;
    return Math.max(0, Math.min(wanted, limits.claimed - queued - flying.size));
  }

  /** Takes out what a lane that became slow would sit on for long. */
  function surplus(lane: Lane): Claim[] {
    const most = capacity(lane);
    if (lane.queue.length <= 2 * most) return [];
    const out = lane.queue.splice(most);
    queued -= out.length;
    return out;
  }

  function take(lane: Lane): Claim | undefined {
    if (lane.inFlight >= lane.slots) return undefined;
    if (lane.healthy === false && failingInFlight >= failingMax) return undefined;
    const at = lane.queue.findIndex((claim) => !inOrder(claim) || !lane.busy.has(claim.subject));
    if (at < 0) return undefined;
    const [claim] = lane.queue.splice(at, 1) as [Claim];
    queued--;
    lane.inFlight++;
    flying.add(claim);
    if (inOrder(claim)) lane.busy.add(claim.subject);
    if (lane.healthy === false) failingInFlight++;
    return claim;
  }

  function next(): Claim[] {
    const out: Claim[] = [];
    // A lane that was served goes to the end, so that a full house is shared evenly.
    for (const lane of waiting) {
      if (flying.size >= limits.inAll) break;
      const claim = take(lane);
      if (!claim) continue;
      out.push(claim);
      waiting.delete(lane);
      if (lane.queue.length) waiting.add(lane);
    }
    return out;
  }

  function judge(lane: Lane, delivered: boolean, ms: number): void {
    // What else is under way on the lane counts by the lane's present name.
    if (lane.healthy === false) failingInFlight -= lane.inFlight;
    if (!delivered) failingInFlight += lane.inFlight;
    lane.healthy = delivered;
    lane.slots = delivered
      ? Math.min(limits.perPlatform, lane.slots + 1)
      : Math.max(1, Math.floor(lane.slots / 2));
    lane.meanMs = lane.meanMs ? lane.meanMs * (1 - NEWEST) + ms * NEWEST : ms;
  }

  return {
    room,
    add(claim) {
      const lane = laneOf(claim.platform_id);
      lane.queue.push(claim);
      waiting.add(lane);
      queued++;
    },
    next,
    done(claim, verdict) {
      const lane = laneOf(claim.platform_id);
      flying.delete(claim);
      lane.inFlight--;
      if (lane.healthy === false) failingInFlight--;
      if (inOrder(claim)) lane.busy.delete(claim.subject);
      if (verdict) judge(lane, verdict.delivered, verdict.ms);
      return surplus(lane);
    },
    clear() {
      const left = [...waiting].flatMap((lane) => lane.queue.splice(0));
      waiting.clear();
      queued = 0;
      return left;
    },
    held: () => [...flying, ...[...waiting].flatMap((lane) => lane.queue)],
    get inFlight() {
      return flying.size;
    },
    get queued() {
      return queued;
    },
  };
}
