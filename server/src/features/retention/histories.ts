// Retention periods of events, delivery attempts and recorded requests. Payments, postings,
// statements and audit records are retained permanently.
import type { Time } from '../../kernel/effects.ts';
import { RETENTION_DAYS } from '../../runtime/config/settings.ts';
import type { Partition, PartitionedName } from '../../runtime/db/partitions/partitions.ts';

const DAY_MS = 86_400_000;

export interface RetentionSettings {
  /** Events and their delivery attempts. */
  eventRetentionMs: number;
  /** Recorded requests and their bodies. */
  requestRetentionMs: number;
  /** Archives of events and requests. 0: rows are removed without an archive. */
  archiveRetentionMs: number;
}

export const DEFAULT_RETENTION: RetentionSettings = {
  eventRetentionMs: RETENTION_DAYS.events * DAY_MS,
  requestRetentionMs: RETENTION_DAYS.requests * DAY_MS,
  archiveRetentionMs: RETENTION_DAYS.archives * DAY_MS,
};

/** Attempts first, because the archive of an attempt requires its event. */
const SETTING_OF: Readonly<Record<PartitionedName, keyof RetentionSettings>> = {
  webhook_attempts: 'eventRetentionMs',
  events: 'eventRetentionMs',
  api_request_bodies: 'requestRetentionMs',
  api_request_reads: 'requestRetentionMs',
  api_requests: 'requestRetentionMs',
};

export const HISTORIES = Object.keys(SETTING_OF) as readonly PartitionedName[];

export const retentionOf = (settings: RetentionSettings, history: PartitionedName): number =>
  settings[SETTING_OF[history]];

/**
 * Time at which a partition is removed, or null for the default partition or without an upper
 * bound.
 */
export const removalTime = (settings: RetentionSettings, partition: Partition): Time | null =>
  partition.until === null || partition.isDefault
    ? null
    : partition.until + retentionOf(settings, partition.table);

/** A partition whose rows are all older than the retention period. */
export type ExpiredPartition = Partition & { until: Time };

/** Expired partitions: partitions of attempts before partitions of events, each oldest first. */
export const expiredPartitions = (
  partitions: readonly Partition[],
  settings: RetentionSettings,
  now: Time,
): ExpiredPartition[] =>
  HISTORIES.flatMap((history) =>
    partitions
      .filter((each): each is ExpiredPartition => each.table === history && each.until !== null)
      .filter((each) => (removalTime(settings, each) ?? Number.POSITIVE_INFINITY) <= now)
      .sort((a, b) => a.until - b.until),
  );
