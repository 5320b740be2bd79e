// The time of each platform. Production platforms follow real time; a sandbox platform may have a
// clock of its own (`sandbox_clocks`). A process keeps what it read for `FRESH_MS`, measured from
// the start of the read; a change of a clock waits as long before it is acknowledged, so that no
// process uses the previous time afterwards.
import type { Caller } from '../../kernel/caller.ts';
import type { Effects, Time } from '../../kernel/effects.ts';
import type { Database } from '../db/database.ts';
import { type ClockRow, sandboxClocks, timeOn } from './clock-table.ts';

/** Maximum age of a clock that was read. */
export const FRESH_MS = 100;
const MAX_KEPT = 10_000;

/** The time of a platform. */
export interface PlatformTime {
  now: Time;
  /** Whether the platform has a clock of its own, which may stand or differ from real time. */
  ownClock: boolean;
}

/** What decides which clock applies; a job does not state its environment. */
type Owner = Pick<Caller, 'platformId'> & Partial<Pick<Caller, 'environment'>>;

export interface Clocks {
  /** The time of a platform; a promise if its clock has to be read. */
  timeOf(owner: Owner): PlatformTime | Promise<PlatformTime>;
  /** The time of a platform. */
  nowOf(owner: Owner): Promise<Time>;
  /** Whether a platform with a clock of its own was seen in this process. */
  anyOwn(): boolean;
  /** Replaces what is known of a clock. */
  note(row: ClockRow): void;
  /** The clock was removed, and the platform follows real time. */
  forget(platformId: string): void;
}

interface Kept {
  row: ClockRow | undefined;
  until: number;
}

/** The clocks as one process sees them. */
export function createClocks(db: Pick<Database, 'read'>, effects: Pick<Effects, 'now'>): Clocks {
  const kept = new Map<string, Kept>();
  const inFlight = new Map<string, { reading: Promise<ClockRow | undefined>; until: number }>();
  /** Counts the notes, so that a slower read does not replace one. */
  const noted = new Map<string, number>();
  let own = false;

  function keep(platformId: string, row: ClockRow | undefined, until: number): void {
    if (row) own = true;
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
    kept.set(platformId, { row, until });
  }

  const timeWith = (row: ClockRow | undefined): PlatformTime => {
    const realTime = effects.now();
    return row
      ? { now: timeOn(row, realTime), ownClock: true }
      : { now: realTime, ownClock: false };
  };

  async function read(platformId: string): Promise<ClockRow | undefined> {
    const [until, before] = [performance.now() + FRESH_MS, noted.get(platformId)];
    const row = await db.read(sandboxClocks, platformId);
    if (noted.get(platformId) !== before) return kept.get(platformId)?.row;
    keep(platformId, row, until);
    return row;
  }

  function readOnce(platformId: string): Promise<ClockRow | undefined> {
    const running = inFlight.get(platformId);
    if (running && performance.now() < running.until) return running.reading;
    const until = performance.now() + FRESH_MS;
    const reading = read(platformId).finally(() => {
      if (inFlight.get(platformId)?.reading === reading) inFlight.delete(platformId);
    });
    inFlight.set(platformId, { reading, until });
    return reading;
  }

  function timeOf({ platformId, environment }: Owner): PlatformTime | Promise<PlatformTime> {
    if (environment === 'production' || platformId === '') return timeWith(undefined);
    const known = kept.get(platformId);
    if (known && performance.now() < known.until) return timeWith(known.row);
    return readOnce(platformId).then(timeWith);
  }

  function replace(platformId: string, row: ClockRow | undefined): void {
    noted.set(platformId, (noted.get(platformId) ?? 0) + 1);
    keep(platformId, row, performance.now() + FRESH_MS);
  }

  return {
    timeOf,
    nowOf: async (owner) => (await timeOf(owner)).now,
    anyOwn: () => own,
    note: (row) => replace(row.id, row),
    forget: (platformId) => replace(platformId, undefined),
  };
}
