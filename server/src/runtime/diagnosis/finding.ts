// The result of a check of `railhead-server doctor`.

type FindingStatus = 'OK' | 'WARNING' | 'ERROR';

export interface Finding {
  check: string;
  status: FindingStatus;
  /** The finding, in complete sentences. */
  detail: string;
  /** Remedy. Absent if the check has passed. */
  remedy?: string;
}

export const success = (check: string, detail: string): Finding => ({
  check,
  status: 'OK',
  detail,
});

export const warning = (check: string, detail: string, remedy: string): Finding => ({
  ...{ check, status: 'WARNING', detail, remedy },
});

export const failure = (check: string, detail: string, remedy: string): Finding => ({
  ...{ check, status: 'ERROR', detail, remedy },
});
