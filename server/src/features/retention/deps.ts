// Dependencies of the retention, built from the settings of a server.
import type { ArchiveDeps } from './archive.ts';
import { DEFAULT_RETENTION, type RetentionSettings } from './histories.ts';

export interface RetentionDeps extends ArchiveDeps {
  settings: RetentionSettings;
}

/** Settings of a server. Absent settings have their defaults. */
export type RetentionOptions = { [K in keyof RetentionSettings]?: number | undefined };

export function retentionDepsOf(
  settings: RetentionOptions & Pick<ArchiveDeps, 'databaseUrl'>,
  runtime: ArchiveDeps['runtime'],
  storage: ArchiveDeps['storage'],
): RetentionDeps {
  const {
    eventRetentionMs = DEFAULT_RETENTION.eventRetentionMs,
    requestRetentionMs = DEFAULT_RETENTION.requestRetentionMs,
    archiveRetentionMs = DEFAULT_RETENTION.archiveRetentionMs,
  } = settings;
  return {
    ...{ runtime, storage, databaseUrl: settings.databaseUrl },
    settings: { eventRetentionMs, requestRetentionMs, archiveRetentionMs },
  };
}
