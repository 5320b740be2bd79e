// The time of each platform: real time, or a separate clock of a sandbox platform (`sandbox_clocks`). A
// process caches a clock for `FRESH_MS`, measured from the start of the read. A change of a clock is
// acknowledged after that time, so that no process uses the previous time afterwards.
import type { Caller } from '../../kernel/caller.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import type { Database } from '../db/database.ts';
import { type ClockRow, sandboxClocks, timeOn } from './clock-table.ts';

/** Maximum age of a cached clock, in milliseconds. */
export const FRESH_MS = 100;
const MAX_CACHED = 10_000;

export interface PlatformTime {
  now: Time;
  /** Whether the platform has a separate clock, which may be stopped or differ from real time. */
  ownClock: boolean;
}

/** The owner determines the clock. A job does not state its environment. */
type Owner = Pick<Caller, 'platformId'> & Partial<Pick<Caller, 'environment'>>;

export interface Clocks {
  /** The time of a platform. A promise if its clock must be read. */
  timeOf(owner: Owner): PlatformTime | Promise<PlatformTime>;
  /** The time of a platform. */
  nowOf(owner: Owner): Promise<Time>;
  /** Whether this process has cached a clock of a platform. */
  anyOwn(): boolean;
  /** Replaces the cached clock. */
  replace(row: ClockRow): void;
  /** Records that the clock was removed. The platform then follows real time. */
  clear(platformId: string): void;
}

interface CachedClock {
  row: ClockRow | undefined;
  until: number;
}

/** Creates the cache of clocks of this process. */
export function createClocks(db: Pick<Database, 'read'>, effects: Pick<Effects, 'now'>): Clocks {
  const cachedClocks = new Map<string, CachedClock>();
  const inFlight = new Map<string, { promise: Promise<ClockRow | undefined>; until: number }>();
  /** Number of replacements by platform, so that a slower read does not overwrite one. */
  const replacementCounts = new Map<string, number>();
  let hasReadClock = false;

  function cache(platformId: string, row: ClockRow | undefined, until: number): void {
    if (row) hasReadClock = true;
    if (cachedClocks.size >= MAX_CACHED)
      cachedClocks.delete(cachedClocks.keys().next().value as string);
    cachedClocks.set(platformId, { row, until });
  }

  const timeWith = (row: ClockRow | undefined): PlatformTime => {
    const realTime = effects.now();
    return row
      ? { now: timeOn(row, realTime), ownClock: true }
      : { now: realTime, ownClock: false };
  };

  async function read(platformId: string): Promise<ClockRow | undefined> {
    const until = performance.now() + FRESH_MS;
    const replacementCount = replacementCounts.get(platformId);
    const row = await db.read(sandboxClocks, platformId);
    if (replacementCounts.get(platformId) !== replacementCount)
      return cachedClocks.get(platformId)?.row;
    cache(platformId, row, until);
    return row;
  }

  function readOnce(platformId: string): Promise<ClockRow | undefined> {
    const pendingRead = inFlight.get(platformId);
    if (pendingRead && performance.now() < pendingRead.until) return pendingRead.promise;
    const until = performance.now() + FRESH_MS;
    const promise = read(platformId).finally(() => {
      if (inFlight.get(platformId)?.promise === promise) inFlight.delete(platformId);
    });
    inFlight.set(platformId, { promise, until });
    return promise;
  }

  function timeOf({ platformId, environment }: Owner): PlatformTime | Promise<PlatformTime> {
    if (environment === 'production' || platformId === '') return timeWith(undefined);
    const entry = cachedClocks.get(platformId);
    if (entry && performance.now() < entry.until) return timeWith(entry.row);
    return readOnce(platformId).then(timeWith);
  }

  function replace(platformId: string, row: ClockRow | undefined): void {
    replacementCounts.set(platformId, (replacementCounts.get(platformId) ?? 0) + 1);
    cache(platformId, row, performance.now() + FRESH_MS);
  }

  return {
    timeOf,
    nowOf: async (owner) => (await timeOf(owner)).now,
    anyOwn: () => hasReadClock,
    replace: (row) => replace(row.id, row),
    clear: (platformId) => replace(platformId, undefined),
  };
}
