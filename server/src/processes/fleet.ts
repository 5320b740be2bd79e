// Keeps N server processes running. A process that exits is started again, after an increasing delay if it
// exited early. Processes are replaced one after the other. The new process serves before the old process
// drains its connections, so that no request fails.
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
/** Maximum time for the start of a replacement. */
const START_MS = 60_000;
/** Maximum time for draining and stop of a replaced process. */
const REPLACED_STOP_MS = 20_000;
/** Maximum time for the orderly stop of all processes, after draining. */
const STOP_MS = 8_800;

interface FleetOptions {
  processes: number;
  env: Omit<ProcessEnv, 'number'>;
  log: Log;
}

export interface Fleet {
  /** Starts all processes, the first process before all others. Resolves when all serve requests. */
  start(): Promise<Serving>;
  /**
   * Replaces all processes, one after the other, until one replacement fails. A call during a
   * replacement starts another replacement after it.
   */
  replace(): void;
  /** Drains all processes for `ms`. Call `stop` afterwards. */
  drain(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** A member of the fleet, which is one process at a time. Its number never changes. */
interface FleetMember {
  number: number;
  process: ServerProcess | undefined;
  /** Consecutive early exits. */
  failures: number;
  restart: NodeJS.Timeout | undefined;
  isReplacing: boolean;
}

const delayOf = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (failures - 1));

/** Waits for the exit. Kills processes that have not exited in time. */
async function endWithin(ms: number, processes: readonly ServerProcess[]): Promise<void> {
  const exits = Promise.all(processes.map(({ exit }) => exit));
  await Promise.race([exits, sleep(ms, undefined, { ref: false })]);
  for (const each of processes) each.kill('SIGKILL');
  await exits;
}

export function createFleet({ processes, env, log }: FleetOptions): Fleet {
  const members: FleetMember[] = Array.from({ length: processes }, (_, index) => ({
    number: index + 1,
    process: undefined,
    failures: 0,
    restart: undefined,
    isReplacing: false,
  }));
  const runningProcesses = new Set<ServerProcess>();
  let isStopping = false;
  let isReplacing = false;
  let hasNextReplacement = false;
  const collection = createCollection(() =>
    members.flatMap(({ number, process }) =>
      process ? [{ number, request: (id: number) => process.send({ type: 'metrics', id }) }] : [],
    ),
  );

  function receive(process: ServerProcess, message: FromProcess): void {
    if (message.type === 'metrics') collection.received(process.number, message.id, message.text);
    if (message.type !== 'collect') return;
    const { id } = message;
    void collection.collect().then((text) => process.send({ type: 'collected', id, text }));
  }

  function launch(number: number): ServerProcess {
    const process = startProcess({ ...env, number }, receive);
    runningProcesses.add(process);
    void process.exit.then(() => runningProcesses.delete(process));
    return process;
  }

  function restartLater(member: FleetMember): void {
    const delayMs = delayOf(member.failures);
    member.restart = setTimeout(() => {
      if (!isStopping) assign(member, launch(member.number));
    }, delayMs);
  }

  /** Assigns a process to a member, and starts another process when it exits. */
  function assign(member: FleetMember, process: ServerProcess): void {
    const startedMs = performance.now();
    member.process = process;
    void process.exit.then((reason) => {
      if (isStopping || member.process !== process) return;
      member.process = undefined;
      const isStable = performance.now() - startedMs > STABLE_MS;
      member.failures = isStable ? 0 : member.failures + 1;
      log.error({ number: member.number, reason }, 'a server process exited');
      if (!member.isReplacing) restartLater(member);
    });
  }

  /** Returns whether the member has a new process. */
  async function replaceOne(member: FleetMember): Promise<boolean> {
    clearTimeout(member.restart);
    member.isReplacing = true;
    const replacement = launch(member.number);
    try {
      const timeout = sleep(
        START_MS,
        `The process did not start within ${START_MS / 1_000} s. Correct the error in its log.`,
        {
          ref: false,
        },
      );
      const problem = await Promise.race([replacement.ready.then(() => undefined), timeout]);
      if (problem) throw new Error(problem);
    } catch (error) {
      log.error({ err: error, number: member.number }, 'a server process could not be replaced');
      replacement.kill('SIGKILL');
      if (!member.process && !isStopping) restartLater(member);
      return false;
    } finally {
      member.isReplacing = false;
    }
    if (isStopping) return false;
    const previousProcess = member.process;
    member.failures = 0;
    assign(member, replacement);
    log.info(
      { number: member.number, pid: replacement.pid, before: previousProcess?.pid },
      'a server process was replaced',
    );
    if (previousProcess) {
      previousProcess.send({ type: 'replace' });
      await endWithin(REPLACED_STOP_MS, [previousProcess]);
    }
    return true;
  }

  function terminate(): void {
    isStopping = true;
    for (const { restart } of members) clearTimeout(restart);
    for (const each of runningProcesses) each.kill('SIGTERM');
  }

  async function replaceAll(): Promise<void> {
    do {
      hasNextReplacement = false;
      for (const member of members) {
        if (isStopping || !(await replaceOne(member))) break;
      }
    } while (hasNextReplacement && !isStopping);
  }

  return {
    async start() {
      const [firstMember, ...otherMembers] = members as [FleetMember, ...FleetMember[]];
      const startMember = async (member: FleetMember) => {
        const process = launch(member.number);
        const serving = await process.serving;
        assign(member, process);
        return serving;
      };
      const serving = await startMember(firstMember);
      await Promise.all(otherMembers.map(startMember));
      return serving;
    },
    replace() {
      if (isReplacing) hasNextReplacement = true;
      else {
        isReplacing = true;
        void replaceAll().finally(() => {
          isReplacing = false;
        });
      }
    },
    async drain(ms) {
      terminate();
      await sleep(ms);
    },
    async stop() {
      terminate();
      await endWithin(STOP_MS, [...runningProcesses]);
    },
  };
}
