// Maintains payment metrics. One process follows the events of each platform below the horizon,
// like the clients of the event list. Commits of every process are therefore counted, including
// late commits (decisions 0076, 0085).
import type { Time } from '../../../kernel/effects.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { frontierOf, requestsWithEvents, subjectsAfter } from '../../notifications/events/index.ts';
import { allPlatforms, platformById } from '../../tenancy/platform/index.ts';
import { cardTransaction, incomingPayment, outgoingPayment } from '../presentation/index.ts';
import {
  claim,
  clear,
  count,
  createdAfter,
  type Mark,
  readMarks,
  removeMark,
  setComplete,
  startMarks,
} from './metrics-store.ts';

const BATCH = 1_000;
/** Steps after which a run ends, so that other sweeps are not delayed and the claim is renewed. */
const MAX_STEPS = 50;
const EVERY_MS = 5_000;
const CLAIM_MS = 30_000;

const STATUS_EVENTS = [outgoingPayment, incomingPayment, cardTransaction].flatMap((events) =>
  Object.entries(events).flatMap(([name, { type }]) => (name.startsWith('REFUND_') ? [] : type)),
);

/** Runs one step for a platform. Returns a positive number, or 0 after the last step. */
async function runStep({ db }: Runtime, mark: Mark, horizon: bigint): Promise<number> {
  if (mark.stage === 'clear') return clear(db, mark);
  if (mark.stage === 'backfill') {
    const createdPayments = await createdAfter(db, mark, BATCH);
    const lastPayment = createdPayments.at(-1);
    const ids = createdPayments.map(({ id }) => id);
    await count(db, mark, ids, {
      ...mark,
      stage: lastPayment ? 'backfill' : 'follow',
      backfill_at: lastPayment?.created_at ?? mark.backfill_at,
      backfill_id: lastPayment?.id ?? mark.backfill_id,
    });
    return createdPayments.length + 1;
  }
  const { platform_id: platformId, position, event_id: id } = mark;
  const cursor = { platformId, position, id, types: STATUS_EVENTS, horizon, limit: BATCH };
  const events = await subjectsAfter(db, cursor);
  const lastEvent = events.length === BATCH ? events.at(-1) : undefined;
  await count(db, mark, [...new Set(events.map(({ subject }) => subject))], {
    ...mark,
    position: lastEvent?.position ?? horizon,
    event_id: lastEvent?.id ?? '',
  });
  return lastEvent ? events.length : 0;
}

/** Reads the marks of all platforms and creates the marks of new platforms. */
async function readAllMarks({ db }: Runtime, horizon: bigint): Promise<Mark[]> {
  const marks = await readMarks(db);
  const markedPlatforms = new Set(marks.map((mark) => mark.platform_id));
  const platformsWithoutMark = (await allPlatforms(db))
    .map(({ id }) => id)
    .filter((id) => !markedPlatforms.has(id));
  return platformsWithoutMark.length
    ? [...marks, ...(await startMarks(db, platformsWithoutMark, horizon))]
    : marks;
}

/**
 * Marks of platforms with events below the horizon, or with earlier payments, that are not counted
 * yet.
 */
async function findPendingMarks({ db }: Runtime, marks: readonly Mark[]): Promise<Mark[]> {
  const followingMarks = marks.filter((mark) => mark.stage === 'follow');
  const cursors = followingMarks.map(({ platform_id: platformId, position, event_id: id }) => ({
    ...{ platformId, position, id },
  }));
  const marksWithEvents = (await requestsWithEvents(db, cursors)).map(
    (index) => followingMarks[index] as Mark,
  );
  return [...marks.filter((mark) => mark.stage !== 'follow'), ...marksWithEvents];
}

interface Progress {
  /** Sum of the numbers that the steps returned. */
  count: number;
  isComplete: boolean;
}

async function advance(runtime: Runtime, horizon: bigint): Promise<Progress> {
  let totalWork = 0;
  for (let steps = 0; steps < MAX_STEPS; ) {
    const marks = await findPendingMarks(runtime, await readAllMarks(runtime, horizon));
    let workCount = 0;
    for (const mark of marks) {
      workCount += await runStep(runtime, mark, horizon);
      steps++;
    }
    totalWork += workCount;
    if (workCount === 0) return { count: totalWork, isComplete: true };
  }
  return { count: totalWork, isComplete: false };
}

/** A time, and a position above the positions of all transactions that started before this time. */
interface StartBound {
  at: Time;
  end: bigint;
}

export function metricsSweep(): Sweep {
  let nextRunAt: Time = 0;
  let processId: string | undefined;
  let previousBound: StartBound | undefined;
  return {
    name: 'payments.metrics',
    async run(runtime) {
      const { effects, db } = runtime;
      const now = effects.now();
      if (now < nextRunAt) return 0;
      processId ??= Buffer.from(effects.random(12)).toString('hex');
      if (!(await claim(db, processId, now, now + CLAIM_MS))) {
        nextRunAt = now + EVERY_MS;
        return 0;
      }
      const { horizon, end } = await frontierOf(db);
      const { count: workCount, isComplete } = await advance(runtime, horizon);
      if (!isComplete) return workCount;
      // Transactions that started before a time are complete after the horizon has passed their
      // positions.
      const completeBound = [{ at: now, end }, previousBound].find(
        (each) => each && each.end <= horizon,
      );
      if (completeBound) await setComplete(db, completeBound.at);
      if (completeBound || !previousBound) previousBound = { at: now, end };
      nextRunAt = now + EVERY_MS;
      return workCount;
    },
  };
}

/** Recounts the payments of a platform. Throws PLATFORM_NOT_FOUND. */
export async function recountPayments(runtime: Runtime, platformId: string) {
  const { id } = await platformById(runtime, platformId);
  await removeMark(runtime.db, id);
  return { platformId: id };
}
