// Verdicts of checks. A check returns the actual result, or throws one of these errors.

export type Verdict = 'passed' | 'failed' | 'skipped';

const SKIPPED = Symbol('skipped');

/** The error of a check that cannot run. */
export const skipError = (reason: string): Error =>
  Object.assign(new Error(reason), { [SKIPPED]: true });

/** The error of a failed check, with the actual result. */
export const failure = (actualResult: string): Error => new Error(actualResult);

export const isSkipped = (error: unknown): boolean => SKIPPED in (error as object);
