// Limits on job slots. A kind, a platform, and a platform within one kind may each use at most a
// part of the slots. Jobs of one kind or one platform therefore never occupy all slots
// (docs/decisions/0039). Slots are counted within one process.

export interface JobLimits {
  /** Maximum concurrent jobs in this process. */
  slots: number;
  perKind: number;
  perPlatform: number;
  /** Maximum concurrent jobs of one platform and one kind. */
  perLane: number;
}

export const JOB_LIMITS: JobLimits = { slots: 64, perKind: 24, perPlatform: 32, perLane: 16 };

/** The keys of a job for the limits. */
interface JobKeys {
  kind: string;
  platform_id: string;
}

export interface JobSlots {
  freeCount(): number;
  /** Occupies a slot. False if no slot is free or a limit is reached. */
  take(job: JobKeys): boolean;
  release(job: JobKeys): void;
  /** Kinds, platforms and lanes that have reached their limit. */
  reachedLimits(): { kinds: string[]; platforms: string[]; lanes: string[] };
}

export const laneOf = ({ kind, platform_id }: JobKeys): string => `${kind} ${platform_id}`;

function createCounter(limit: number) {
  const counts = new Map<string, number>();
  const countOf = (key: string) => counts.get(key) ?? 0;
  return {
    hasRoom: (key: string) => countOf(key) < limit,
    add: (key: string) => void counts.set(key, countOf(key) + 1),
    remove(key: string) {
      if (countOf(key) > 1) counts.set(key, countOf(key) - 1);
      else counts.delete(key);
    },
    full: () => [...counts].filter(([, count]) => count >= limit).map(([key]) => key),
  };
}

/** The slots of one process, initially free. */
export function createJobSlots({
  slots: totalSlots,
  perKind,
  perPlatform,
  perLane,
}: JobLimits): JobSlots {
  const [kinds, platforms, lanes] = [
    createCounter(perKind),
    createCounter(perPlatform),
    createCounter(perLane),
  ];
  let usedSlots = 0;
  return {
    freeCount: () => totalSlots - usedSlots,
    take(job) {
      const [kind, platform, lane] = [job.kind, job.platform_id, laneOf(job)];
      if (usedSlots >= totalSlots || !kinds.hasRoom(kind)) return false;
      if (!platforms.hasRoom(platform) || !lanes.hasRoom(lane)) return false;
      usedSlots++;
      kinds.add(kind);
      platforms.add(platform);
      lanes.add(lane);
      return true;
    },
    release(job) {
      usedSlots--;
      kinds.remove(job.kind);
      platforms.remove(job.platform_id);
      lanes.remove(laneOf(job));
    },
    reachedLimits: () => ({
      kinds: kinds.full(),
      platforms: platforms.full(),
      lanes: lanes.full(),
    }),
  };
}
