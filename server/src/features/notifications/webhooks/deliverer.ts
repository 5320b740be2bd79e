// Works off the outbox: reads what is due, sends it, writes down what came of it. It runs beside the
// requests that fill the outbox and must not slow them, so it reads and records many events with one
// statement, rests after each look for as long as it took, and holds back while change sets wait for the
// committer. Delivery is at least once: a process that dies between the answer and its record loses its
// leases, and the event is sent again with the same id and the same bytes. Events of one platform go out
// in the order of their ids, as far as retries and requests side by side allow; nothing is promised.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Naming } from '../../../catalog/naming.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import { uuid7 } from '../../../kernel/id.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { SigningKeys } from '../../../runtime/security/keys.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { createLanes, LIMITS, type Limits } from './lanes.ts';
import { createReader, type Stride } from './reader.ts';
import { createRecorder } from './recorder.ts';
import { type AttemptResult, isDelivered, nextAttemptAt } from './schedule.ts';
import { excerptOf, type Sent, send } from './send.ts';
import { type DueEvent, letGo, type Outcome } from './store.ts';

interface DelivererOptions {
  effects: Effects;
  db: Database;
  /** Opens events that are kept sealed. */
  vault: Vault;
  keys: SigningKeys;
  naming: Naming;
  /** Whether sandbox platforms may use endpoints on this machine. */
  loopbackWebhooks: boolean;
  log: Log;
  metrics: Metrics;
  limits?: Partial<Limits>;
  /** While requests need all the time, deliveries hold back: at full speed they take half of it. */
  pressed?: () => boolean;
  /** Shortened by tests. */
  answerTimeoutMs?: number;
}

export interface Deliverer {
  /** Something was committed that may be due: look soon. */
  wake(): void;
  /** Delivers everything that is due and waits for it; answers how many tries that were. */
  runDue(now?: Time): Promise<number>;
  start(): void;
  /** Takes no more, waits a little for what is under way, lets others have the rest. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** Looks take at most half of the time: the rest after one is as long as it was, within bounds. */
const MIN_REST_MS = 10;
const MAX_REST_MS = 1_000;
/** Deliveries begun in one round while pressed: a few hundred a second, so nothing waits for ever. */
const PRESSED_AT_ONCE = 8;
/** How long a stop waits for answers. Whoever started the server may not wait much longer for it. */
const STOP_WAIT_MS = 5_000;

function resultOf(sent: Sent, next: Time | null): AttemptResult {
  if (isDelivered(sent.status)) return 'delivered';
  return next === null ? 'dropped' : 'retry';
}

/** What a try means for its event. */
function outcomeOf(effects: Effects, event: DueEvent, sent: Sent): Outcome {
  const attempt = event.attempts + 1;
  const { at, status, error, ms } = sent;
  const next = isDelivered(status) ? null : nextAttemptAt(effects, event, attempt, at + ms);
  const result = resultOf(sent, next);
  const response = excerptOf(sent.answer);
  return { event_id: event.id, attempt, at, status, error, ms, response, result, next };
}

/** Reads, sends and records; the loop around it decides when. */
function createWorks(options: DelivererOptions) {
  const { effects, db, vault, log, metrics, pressed = () => false } = options;
  const limits = { ...LIMITS, ...options.limits };
  const holder = uuid7(effects);
  const lanes = createLanes(limits);
  const recorder = createRecorder({ db, log, written: lanes.written });
  const reader = createReader({ db, vault, log, lanes }, holder);
  const tasks = new Set<Promise<void>>();
  let turn: Promise<unknown> = Promise.resolve();
  let tries = 0;

  function note(event: DueEvent, outcome: Outcome): void {
    metrics.delivery(outcome.result);
    const { status, error, attempt, ms } = outcome;
    const fields = { event: event.id, platformId: event.platform_id, status, error, attempt, ms };
    if (outcome.result === 'retry') log.debug(fields, 'event not delivered');
    if (outcome.result === 'dropped') log.warn(fields, 'event given up');
  }

  async function deliver(event: DueEvent, after: () => void): Promise<void> {
    // The database was away too long to renew the lease: somebody else may be sending this.
    if (lanes.leaseOf(event.platform_id) <= effects.now()) lanes.done(event, null);
    else {
      const sent = await send(options, event, event.endpoint, event.environment);
      const outcome = outcomeOf(effects, event, sent);
      tries++;
      note(event, outcome);
      recorder.add(event, outcome);
      lanes.done(event, { delivered: outcome.result === 'delivered', ms: sent.ms });
    }
    if (!pressed()) pump(after, Infinity);
    after();
  }

  function pump(after: () => void, most: number): void {
    for (const event of lanes.next(most)) {
      const task = deliver(event, after).finally(() => tasks.delete(task));
      tasks.add(task);
    }
  }

  /** Strides and renewals of one process never overlap. */
  function inTurn<R>(work: () => Promise<R>): Promise<R> {
    const next = turn.then(work);
    turn = next.catch(() => undefined);
    return next;
  }

  return {
    restart: reader.restart,
    tries: () => tries,
    /** `after` is called as each delivery ends. A `gentle` stride minds the pressure. */
    stride: (now: Time, after: () => void, gentle: boolean): Promise<Stride> =>
      inTurn(async () => {
        const stride = await reader.stride(now, limits.inHand - lanes.total);
        const held = gentle && pressed();
        pump(after, held ? PRESSED_AT_ONCE : Infinity);
        return { ...stride, more: stride.more || (held && lanes.queued > 0) };
      }),
    /** Renews leases that are half spent, and tries again what could not be written. */
    tick(): void {
      recorder.tick();
      inTurn(() => reader.renew(effects.now())).catch((error: unknown) => {
        log.error({ err: error }, 'delivery leases could not be renewed');
      });
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
    flush: () => recorder.flush(),
    async release(): Promise<void> {
      await turn;
      lanes.clear();
    },
    async letGo(): Promise<void> {
      const leased = lanes.leased(effects.now());
      for (const each of leased) lanes.lose(each);
      if (leased.length) await letGo(db, holder, leased);
    },
  };
}

const within = (least: number, value: number, most: number) =>
  Math.min(most, Math.max(least, value));

const nothing = () => undefined;

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { effects, log } = options;
  const works = createWorks(options);
  let running = false;
  let busy = false;
  let wanted = false;
  let ticker: NodeJS.Timeout | undefined;
  let rest: NodeJS.Timeout | undefined;

  async function round(): Promise<void> {
    if (!running) return;
    const started = effects.now();
    wanted = false;
    try {
      const { did, more } = await works.stride(started, look, true);
      if (did > 0 || more) wanted = true;
    } catch (error) {
      log.error({ err: error }, 'delivery round failed');
    }
    const restMs = within(MIN_REST_MS, effects.now() - started, MAX_REST_MS);
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

  async function runDue(now: Time = effects.now()): Promise<number> {
    const before = works.tries();
    for (;;) {
      works.restart();
      let did = 0;
      for (let more = true; more; ) {
        const stride = await works.stride(now, nothing, false);
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
        works.tick();
        look();
      }, LOOK_EVERY_MS);
      look();
    },
    async stop() {
      running = false;
      clearInterval(ticker);
      clearTimeout(rest);
      busy = false;
      await works.release();
      try {
        // A deaf receiver must not hold up a stop: what it has not answered by then is sent again.
        await Promise.race([works.quiet(), sleep(STOP_WAIT_MS, undefined, { ref: false })]);
        await works.flush();
        await works.letGo();
      } catch (error) {
        // What could not be written is sent again, and the leases lapse by themselves.
        log.error({ err: error }, 'stopped with deliveries unrecorded');
      }
    },
  };
}
