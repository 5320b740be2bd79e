// Keeps N server processes running: a process that exits is started again, after an increasing delay if it
// exited early. They are replaced one after the other: the new process serves before the
// old one drains its connections, so that no request fails.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/observability/log.ts';
import type { Serving } from '../startup.ts';
import type { FromProcess, ProcessEnv } from './link.ts';
import { createCollection } from './metrics.ts';
import { type ServerProcess, startProcess } from './process.ts';

/** A process that ran for this long starts again immediately. */
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
  /** Starts all processes, the first one before all others. Resolves when all serve requests. */
  start(): Promise<Serving>;
  /**
   * Replaces all processes, one after the other. A call during a replacement starts another replacement
   * after it.
   */
  replace(): void;
  /** Drains all processes for this time before their stop. Call `stop` afterwards. */
  drain(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** A slot for one process. Its number never changes. */
interface ProcessSlot {
  number: number;
  current: ServerProcess | undefined;
  /** Consecutive early exits. */
  failures: number;
  restart: NodeJS.Timeout | undefined;
  isReplacing: boolean;
}

const delayOf = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (failures - 1));

/** Waits for the exit. Kills processes that have not exited in time. */
async function endWithin(ms: number, processes: readonly ServerProcess[]): Promise<void> {
  const all = Promise.all(processes.map(({ ended }) => ended));
  await Promise.race([all, sleep(ms, undefined, { ref: false })]);
  for (const each of processes) each.kill('SIGKILL');
  await all;
}

export function createFleet({ processes, env, log }: FleetOptions): Fleet {
  const slots: ProcessSlot[] = Array.from({ length: processes }, (_, index) => ({
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
    slots.flatMap(({ number, current }) =>
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

  function restartLater(slot: ProcessSlot): void {
    const delayMs = delayOf(slot.failures);
    slot.restart = setTimeout(() => {
      if (!stopping) assign(slot, launch(slot.number));
    }, delayMs);
  }

  /** Assigns a process to a slot, and starts another process when it exits. */
  function assign(slot: ProcessSlot, process: ServerProcess): void {
    const startedMs = performance.now();
    slot.current = process;
    void process.ended.then((reason) => {
      if (stopping || slot.current !== process) return;
      slot.current = undefined;
      const isStable = performance.now() - startedMs > STABLE_MS;
      slot.failures = isStable ? 0 : slot.failures + 1;
      log.error({ number: slot.number, reason }, 'a server process exited');
      if (!slot.isReplacing) restartLater(slot);
    });
  }

  /** Returns whether the slot has a new process. */
  async function replaceOne(slot: ProcessSlot): Promise<boolean> {
    clearTimeout(slot.restart);
    slot.isReplacing = true;
    const next = launch(slot.number);
    try {
      const timeout = sleep(START_MS, 'no start in time', { ref: false });
      const problem = await Promise.race([next.ready.then(() => undefined), timeout]);
      if (problem) throw new Error(problem);
    } catch (error) {
      log.error({ err: error, number: slot.number }, 'a server process could not be replaced');
      next.kill('SIGKILL');
      if (!slot.current && !stopping) restartLater(slot);
      return false;
    } finally {
      slot.isReplacing = false;
    }
    if (stopping) return false;
    const previous = slot.current;
    slot.failures = 0;
    assign(slot, next);
    log.info({ number: slot.number, pid: next.pid, before: previous?.pid }, 'replaced');
    if (previous) {
      previous.send({ type: 'replace' });
      await endWithin(REPLACED_MS, [previous]);
    }
    return true;
  }

  function terminate(): void {
    stopping = true;
    for (const { restart } of slots) clearTimeout(restart);
    for (const each of running) each.kill('SIGTERM');
  }

  async function replaceAll(): Promise<void> {
    do {
      replaceAgain = false;
      for (const slot of slots) {
        if (stopping || !(await replaceOne(slot))) break;
      }
    } while (replaceAgain && !stopping);
  }

  return {
    async start() {
      const [first, ...others] = slots as [ProcessSlot, ...ProcessSlot[]];
      const open = async (slot: ProcessSlot) => {
        const process = launch(slot.number);
        const serving = await process.serving;
        assign(slot, process);
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
