// Keeps N server processes running: a process that ends is started again, after an increasing delay
// if it has ended early. They are replaced one after the other: the new process serves before the
// old one drains its connections, so that no request fails.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/observability/log.ts';
import type { Serving } from '../startup.ts';
import type { FromProcess, ProcessEnv } from './link.ts';
import { createCollection } from './metrics.ts';
import { type ServerProcess, startProcess } from './process.ts';

/** A process that ran for this long starts again at once. */
const STABLE_MS = 60_000;
const MIN_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** Time for the start of a replacement. */
const START_MS = 60_000;
/** Time for draining and stop of a replaced process. */
const REPLACED_MS = 20_000;
/** Time for the orderly stop of all processes, after draining. */
const STOP_MS = 8_800;

interface FleetOptions {
  processes: number;
  env: Omit<ProcessEnv, 'number'>;
  log: Log;
}

export interface Fleet {
  /** Starts all processes, the first before the others; resolves when all serve requests. */
  start(): Promise<Serving>;
  /**
   * Replaces all processes, one after the other. A call during a replacement starts another replacement
   * after it.
   */
  replace(): void;
  /** Lets all processes drain for this time before their stop; call `stop` afterwards. */
  drain(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** The place of a process; its number never changes. */
interface Place {
  number: number;
  current: ServerProcess | undefined;
  /** Consecutive early ends. */
  failures: number;
  restart: NodeJS.Timeout | undefined;
  isReplacing: boolean;
}

const delayOf = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (failures - 1));

/** Waits for the end; kills processes that have not ended in time. */
async function endWithin(ms: number, processes: readonly ServerProcess[]): Promise<void> {
  const all = Promise.all(processes.map(({ ended }) => ended));
  await Promise.race([all, sleep(ms, undefined, { ref: false })]);
  for (const each of processes) each.kill('SIGKILL');
  await all;
}

export function createFleet({ processes, env, log }: FleetOptions): Fleet {
  const places: Place[] = Array.from({ length: processes }, (_, index) => ({
    number: index + 1,
    current: undefined,
    failures: 0,
    restart: undefined,
    isReplacing: false,
  }));
  const running = new Set<ServerProcess>();
  let stopping = false;
  let replacing = false;
  let replaceAgain = false;
  const collection = createCollection(() =>
    places.flatMap(({ number, current }) =>
      current ? [{ number, request: (id: number) => current.send({ type: 'metrics', id }) }] : [],
    ),
  );

  function receive(from: ServerProcess, message: FromProcess): void {
    if (message.type === 'metrics') collection.received(from.number, message.id, message.text);
    if (message.type !== 'collect') return;
    const { id } = message;
    void collection.collect().then((text) => from.send({ type: 'collected', id, text }));
  }

  function launch(number: number): ServerProcess {
    const launched = startProcess({ ...env, number }, receive);
    running.add(launched);
    void launched.ended.then(() => running.delete(launched));
    return launched;
  }

  function restartLater(place: Place): void {
    const delayMs = delayOf(place.failures);
    place.restart = setTimeout(() => {
      if (!stopping) assign(place, launch(place.number));
    }, delayMs);
  }

  /** Assigns a process to the place, and starts another when it ends. */
  function assign(place: Place, process: ServerProcess): void {
    const startedMs = performance.now();
    place.current = process;
    void process.ended.then((reason) => {
      if (stopping || place.current !== process) return;
      place.current = undefined;
      const isStable = performance.now() - startedMs > STABLE_MS;
      place.failures = isStable ? 0 : place.failures + 1;
      log.error({ number: place.number, reason }, 'a server process ended');
      if (!place.isReplacing) restartLater(place);
    });
  }

  /** Returns whether the place has a new process. */
  async function replaceOne(place: Place): Promise<boolean> {
    clearTimeout(place.restart);
    place.isReplacing = true;
    const next = launch(place.number);
    try {
      const timeout = sleep(START_MS, 'no start in time', { ref: false });
      const problem = await Promise.race([next.ready.then(() => undefined), timeout]);
      if (problem) throw new Error(problem);
    } catch (error) {
      log.error({ err: error, number: place.number }, 'a server process could not be replaced');
      next.kill('SIGKILL');
      if (!place.current && !stopping) restartLater(place);
      return false;
    } finally {
      place.isReplacing = false;
    }
    if (stopping) return false;
    const old = place.current;
    place.failures = 0;
    assign(place, next);
    log.info({ number: place.number, pid: next.pid, before: old?.pid }, 'replaced');
    if (old) {
      old.send({ type: 'replace' });
      await endWithin(REPLACED_MS, [old]);
    }
    return true;
  }

  function terminate(): void {
    stopping = true;
    for (const { restart } of places) clearTimeout(restart);
    for (const each of running) each.kill('SIGTERM');
  }

  async function replaceAll(): Promise<void> {
    do {
      replaceAgain = false;
      for (const place of places) {
        if (stopping || !(await replaceOne(place))) break;
      }
    } while (replaceAgain && !stopping);
  }

  return {
    async start() {
      const [first, ...others] = places as [Place, ...Place[]];
      const open = async (place: Place) => {
        const process = launch(place.number);
        const serving = await process.serving;
        assign(place, process);
        return serving;
      };
      const serving = await open(first);
      await Promise.all(others.map(open));
      return serving;
    },
    replace() {
      if (replacing) replaceAgain = true;
      else {
        replacing = true;
        void replaceAll().finally(() => {
          replacing = false;
        });
      }
    },
    async drain(ms) {
      terminate();
      await sleep(ms);
    },
    async stop() {
      terminate();
      await endWithin(STOP_MS, [...running]);
    },
  };
}
