// The retention of an installation: settings, partitions and archives.
import { iso } from '../../kernel/effects.ts';
import { listPartitions } from '../../runtime/db/partitions/partitions.ts';
import type { RetentionDeps } from './deps.ts';
import { HISTORIES, removalTime, retentionOf } from './histories.ts';
import { latestArchives, presentArchive } from './store.ts';

const DAY_MS = 86_400_000;
/** Maximum number of archives. Older archives are omitted. */
const MAX_ARCHIVES = 500;

const isoOrNull = (time: number | null) => (time === null ? null : iso(time));

export async function retentionOverview({ runtime: { db }, settings }: RetentionDeps) {
  const [partitions, archives] = await Promise.all([
    listPartitions(db),
    latestArchives(db, MAX_ARCHIVES),
  ]);
  return {
    archiveDays: settings.archiveRetentionMs / DAY_MS,
    histories: HISTORIES.map((history) => ({
      history,
      days: retentionOf(settings, history) / DAY_MS,
      partitions: partitions
        .filter(({ table }) => table === history)
        .map((partition) => ({
          partition: partition.name,
          from: isoOrNull(partition.from),
          until: isoOrNull(partition.until),
          rows: partition.rows,
          bytes: partition.bytes,
          removedFrom: isoOrNull(removalTime(settings, partition)),
        })),
    })),
    archives: archives.map(presentArchive),
  };
}

export type RetentionOverview = Awaited<ReturnType<typeof retentionOverview>>;
