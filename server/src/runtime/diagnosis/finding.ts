// What a check of `railhead-server doctor` reports.

type FindingStatus = 'OK' | 'WARNING' | 'ERROR';

export interface Finding {
  check: string;
  status: FindingStatus;
  /** What was found, as a sentence. */
  detail: string;
  /** What to do; absent if nothing is wrong. */
  remedy?: string;
}

export const passed = (check: string, detail: string): Finding => ({ check, status: 'OK', detail });

export const warning = (check: string, detail: string, remedy: string): Finding => ({
  ...{ check, status: 'WARNING', detail, remedy },
});

export const failure = (check: string, detail: string, remedy: string): Finding => ({
  ...{ check, status: 'ERROR', detail, remedy },
});
