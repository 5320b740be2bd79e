// Dependencies of the retention, built from the settings of a server.
import type { ArchiveParts } from './archive.ts';
import { DEFAULT_RETENTION, type RetentionSettings } from './histories.ts';

export interface RetentionParts extends ArchiveParts {
  settings: RetentionSettings;
}

/** Settings of a server. Absent settings have their defaults. */
export type RetentionOptions = { [K in keyof RetentionSettings]?: number | undefined };

export function retentionPartsOf(
  settings: RetentionOptions & Pick<ArchiveParts, 'databaseUrl'>,
  runtime: ArchiveParts['runtime'],
  storage: ArchiveParts['storage'],
): RetentionParts {
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
