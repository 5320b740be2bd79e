// The clock of a sandbox platform. A change holds the clock, so a concurrent change is rejected. A change
// completes after every process has stopped using the previous time.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../../kernel/caller.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { holdClock, releaseClock } from '../../../runtime/clocks/clock-changes.ts';
import { type ClockRow, sandboxClocks, timeOn } from '../../../runtime/clocks/clock-table.ts';
import { FRESH_MS } from '../../../runtime/clocks/clocks.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { dropExpiredDeliveries } from '../../notifications/endpoints/index.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { advanceTo, type ClockWork, moveJobsToClock } from './advance.ts';
import { getSandboxClock, updateSandboxClock } from './contract.ts';
import { type ClockChange, targetOf } from './target.ts';

export interface ClockDeps {
  /** Provided after all features are composed. */
  clockWork(): { runtime: Runtime; work: ClockWork };
}

const clockHeldFault = () =>
  new Fault('CONFLICT', 'Another change of the clock is in progress. Retry when it is complete.');

function presentClock(row: ClockRow | undefined, realTime: Time) {
  return {
    currentTime: iso(row ? timeOn(row, realTime) : realTime),
    frozen: row?.frozen ?? false,
    ...(row?.target ? { target: iso(row.target) } : {}),
  };
}

/** Throws INVALID_INPUT for a target in the past or more than two years ahead. */
function requireTarget(change: ClockChange, now: Time): Time {
  const target = targetOf(change, now);
  if (typeof target === 'number') return target;
  throw invalid([target]);
}

/** Executes the work due until the target of a held clock, up to the limits of `advanceTo`. */
async function advanceClock(
  runtime: Runtime,
  work: ClockWork,
  caller: Caller,
  heldClock: ClockRow,
  change: ClockChange,
) {
  // The clock may have advanced past an instant that was valid when the request was read.
  const currentTime = heldClock.stands_at as Time;
  const target = Math.max(
    currentTime,
    requireTarget({ ...change, ...clampedTarget(change, currentTime) }, currentTime),
  );
  // The first change, or a change after an interrupted one. Repeated staging has no effect.
  if (heldClock.target !== null) await operate(runtime, caller, work.stage);
  await moveJobsToClock(runtime, heldClock.id, work, currentTime);
  const progress = await advanceTo(runtime, work, heldClock, target);
  await dropExpiredDeliveries(runtime, heldClock.id);
  return { ...progress, target };
}

const clampedTarget = ({ to }: ClockChange, now: Time) =>
  to !== undefined && Date.parse(to) < now ? { to: iso(now) } : {};

async function changeClock(
  runtime: Runtime,
  work: ClockWork,
  { platformId, environment }: Caller,
  change: ClockChange,
) {
  const { db, effects, clocks } = runtime;
  const caller = systemCaller(platformId, environment);
  const clockBefore = await db.read(sandboxClocks, platformId);
  requireTarget(change, clockBefore ? timeOn(clockBefore, effects.now()) : effects.now());
  const holder = uuid7(effects);
  const heldClock = await holdClock(db, { platformId, holder, realTime: effects.now() });
  if (!heldClock) throw clockHeldFault();
  clocks.replace(heldClock);
  const release = async (target: Time | null, frozen: boolean) => {
    const row = await releaseClock(db, heldClock, { frozen, target, realTime: effects.now() });
    clocks.replace(row);
    return row;
  };
  const isFrozen = change.freeze ?? heldClock.frozen;
  const progress = await advanceClock(runtime, work, caller, heldClock, change).catch(
    async (error: unknown) => {
      await release(heldClock.target, heldClock.frozen).catch(() => undefined);
      throw error;
    },
  );
  const row = await release(progress.isReached ? null : progress.target, isFrozen);
  // Operations that began with the previous time have staged jobs in real time.
  await sleep(FRESH_MS);
  await moveJobsToClock(runtime, platformId, work, timeOn(row, effects.now()));
  runtime.wake.jobs();
  runtime.wake.events();
  return { ...presentClock(row, effects.now()), processed: progress.processedCount };
}

export const sandboxClockOperations = ({ clockWork }: ClockDeps) => [
  handle(getSandboxClock, async (ctx) => {
    const row = await ctx.db.read(sandboxClocks, ctx.caller.platformId);
    return { status: 200, body: presentClock(row, ctx.effects.now()) };
  }),
  handle(updateSandboxClock, async ({ caller }, { body }) => {
    const { runtime, work } = clockWork();
    return { status: 200, body: await changeClock(runtime, work, caller, body) };
  }),
];
