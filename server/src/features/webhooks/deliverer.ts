// Works off the outbox: claims what is due, sends it, writes down what came of it. It runs beside the
// requests that fill the outbox and must not slow them, so it looks in large strides, claims many events
// with one statement, records many results with one statement, and rests between looks for longer than a
// look takes. Delivery is at least once: a process that dies between the answer and its record leaves a
// lease that lapses, and the event is sent again with the same id and the same bytes. The order of one
// platform's events is kept as far as claims go and is not promised.
import type { Naming } from '../../catalog/naming.ts';
import type { Time, World } from '../../kernel/world.ts';
import type { Database } from '../../runtime/database.ts';
import type { SigningKeys } from '../../runtime/keys.ts';
import type { Log } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { createLanes, LIMITS, type Limits } from './lanes.ts';
import { createRecorder } from './recorder.ts';
import { type AttemptResult, isDelivered, nextAttemptAt } from './schedule.ts';
import { excerptOf, type Sent, send } from './send.ts';
import {
  type Claim,
  claimEvents,
  type Outcome,
  settleUntold,
  type Waiting,
  waitingPlatforms,
} from './store.ts';

export interface DelivererOptions {
  world: World;
  db: Database;
  keys: SigningKeys;
  naming: Naming;
  log: Log;
  metrics: Metrics;
  limits?: Partial<Limits>;
  /** Shortened by tests. */
  answerTimeoutMs?: number;
}

export interface Deliverer {
  /** Something was committed that may be due: look soon. */
  wake(): void;
  /** Delivers everything that is due and waits for it; answers how many tries that were. */
  runDue(now?: Time): Promise<number>;
  start(): void;
  /** Claims no more, waits for what is under way, gives the rest back. */
  stop(): Promise<void>;
}

/** How long a dead process keeps others from its claims. Longer requests have their lease renewed. */
export const LEASE_MS = 20_000;
const LOOK_EVERY_MS = 1_000;
/** Looks take at most a fifth of the time: the rest after one is four times as long, within bounds. */
const REST_SHARE = 4;
const MIN_REST_MS = 10;
const MAX_REST_MS = 1_000;
/** Platforms looked at in one round; the next round goes on after the last. */
const PLATFORMS_PER_ROUND = 500;
/** Events taken out of the queue at once because nobody is to be told. */
const SETTLE_AT_ONCE = 5_000;

function resultOf(sent: Sent, next: Time | null): AttemptResult {
  if (isDelivered(sent.status)) return 'delivered';
  return next === null ? 'dropped' : 'retry';
}

/** What a try means for its event. */
export function outcomeOf(world: World, claim: Claim, sent: Sent): Outcome {
  const attempt = claim.attempts + 1;
  const { at, status, error, ms } = sent;
  const next = isDelivered(status) ? null : nextAttemptAt(world, claim, attempt, at + ms);
  const result = resultOf(sent, next);
  const response = excerptOf(sent.answer);
  return { event_id: claim.id, attempt, at, status, error, ms, response, result, next };
}

interface Stride {
  claims: Claim[];
  /** How much was claimed or settled. */
  did: number;
  /** Whether platforms are left that this lap has not come to. */
  more: boolean;
}

/** Finds due events and claims them, platform by platform, taking up each time where it left off. */
function createClaimer(db: Database, room: (platformId: string) => number) {
  let after = '';

  function asksFor(due: readonly Waiting[], total: number) {
    const asks: { platformId: string; take: number }[] = [];
    let left = total;
    for (const { id } of due) {
      const take = Math.min(left, room(id));
      if (take > 0) asks.push({ platformId: id, take });
      left -= take;
      if (left <= 0) return { asks, cutAt: id };
    }
    return { asks, cutAt: null };
  }

  return {
    restart() {
      after = '';
    },
    /** One stride of a lap over all platforms; claims up to `total` events. */
    async next(now: Time, total: number): Promise<Stride> {
      const waiting = await waitingPlatforms(db, now, after, PLATFORMS_PER_ROUND);
      const due = waiting.filter((each) => each.due);
      const deaf = due.filter((each) => each.endpoint === null).map((each) => each.id);
      const settled = deaf.length ? await settleUntold(db, now, deaf, SETTLE_AT_ONCE) : 0;
      const told = due.filter((each) => each.endpoint !== null);
      const { asks, cutAt } = asksFor(told, total);
      const claims = asks.length ? await claimEvents(db, now, now + LEASE_MS, asks) : [];
      const last = waiting.length === PLATFORMS_PER_ROUND ? (waiting.at(-1)?.id ?? '') : '';
      after = cutAt ?? last;
      return { claims, did: claims.length + settled, more: after !== '' };
    },
  };
}

/** Claims, sends and records; the loop around it decides when. */
function createWorks(options: DelivererOptions) {
  const { world, db, log, metrics } = options;
  const limits = { ...LIMITS, ...options.limits };
  const lanes = createLanes(limits);
  const recorder = createRecorder({ world, db, log, leaseMs: LEASE_MS, held: lanes.held });
  const claimer = createClaimer(db, lanes.room);
  const tasks = new Set<Promise<void>>();
  let turn: Promise<unknown> = Promise.resolve();
  let tries = 0;

  function note(claim: Claim, outcome: Outcome): void {
    metrics.delivery(outcome.result);
    const { status, error, attempt, ms } = outcome;
    const fields = { event: claim.id, platformId: claim.platform_id, status, error, attempt, ms };
    if (outcome.result === 'retry') log.debug(fields, 'event not delivered');
    if (outcome.result === 'dropped') log.warn(fields, 'event given up');
  }

  function giveBack(claims: readonly Claim[]): void {
    if (!claims.length) return;
    recorder.giveBack(claims).catch((error: unknown) => {
      log.error({ err: error }, 'claims lapse by themselves');
    });
  }

  async function deliver(claim: Claim, after: () => void): Promise<void> {
    // A database that was away too long to renew: somebody else may have it by now.
    if (claim.lease <= world.now()) giveBack(lanes.done(claim, null));
    else {
      const sent = await send(options, claim, claim.endpoint, claim.environment);
      const outcome = outcomeOf(world, claim, sent);
      tries++;
      note(claim, outcome);
      recorder.add(claim, outcome);
      giveBack(lanes.done(claim, { delivered: outcome.result === 'delivered', ms: sent.ms }));
    }
    pump(after);
    after();
  }

  function pump(after: () => void): void {
    for (const claim of lanes.next()) {
      const task = deliver(claim, after).finally(() => tasks.delete(task));
      tasks.add(task);
    }
  }

  async function stride(now: Time, after: () => void): Promise<Stride> {
    const total = limits.claimed - lanes.queued - lanes.inFlight - recorder.pending;
    if (total <= 0) return { claims: [], did: 0, more: false };
    const done = await claimer.next(now, total);
    for (const claim of done.claims) lanes.add(claim);
    pump(after);
    return done;
  }

  return {
    recorder,
    restart: claimer.restart,
    tries: () => tries,
    /** Strides of one process never overlap. `after` is called as each delivery ends. */
    stride(now: Time, after: () => void): Promise<Stride> {
      const next = turn.then(() => stride(now, after));
      turn = next.catch(() => undefined);
      return next;
    },
    /** Waits until nothing is under way and all is written; answers how much it waited for. */
    async quiet(): Promise<number> {
      let waited = 0;
      while (tasks.size) {
        waited += tasks.size;
        await Promise.all(tasks);
      }
      await recorder.flush();
      return waited;
    },
    async release(): Promise<void> {
      await turn;
      giveBack(lanes.clear());
    },
  };
}

const within = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));

const nothing = () => undefined;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { world, log } = options;
  const works = createWorks(options);
  let running = false;
  let busy = false;
  let wanted = false;
  let ticker: NodeJS.Timeout | undefined;
  let rest: NodeJS.Timeout | undefined;

  async function round(): Promise<void> {
    if (!running) return;
    const started = world.now();
    wanted = false;
    try {
      const { did, more } = await works.stride(started, look);
      if (did > 0 || more) wanted = true;
    } catch (error) {
      log.error({ err: error }, 'delivery round failed');
    }
    const restMs = within(MIN_REST_MS, REST_SHARE * (world.now() - started), MAX_REST_MS);
    rest = setTimeout(() => {
      busy = false;
      if (wanted) look();
    }, restMs);
  }

  function look(): void {
    wanted = true;
    if (!running || busy) return;
    busy = true;
    setImmediate(() => void round());
  }

  async function runDue(now: Time = world.now()): Promise<number> {
    const before = works.tries();
    for (;;) {
      works.restart();
      let did = 0;
      for (let more = true; more; ) {
        const stride = await works.stride(now, nothing);
        did += stride.did;
        more = stride.more;
      }
      const waited = await works.quiet();
      if (did + waited === 0) return works.tries() - before;
    }
  }

  return {
    wake: look,
    runDue,
    start() {
      running = true;
      ticker = setInterval(() => {
        works.recorder.tick();
        look();
      }, LOOK_EVERY_MS);
      look();
    },
    async stop() {
      running = false;
      clearInterval(ticker);
      clearTimeout(rest);
      await works.release();
      // What cannot be written now comes due again by itself.
      await works.quiet().catch((error: unknown) => log.error({ err: error }, 'not recorded'));
      busy = false;
    },
  };
}
