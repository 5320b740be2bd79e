// Verdicts of checks: a check returns what was seen, or throws one of these errors.

export type Verdict = 'passed' | 'failed' | 'skipped';

const SKIPPED = Symbol('skipped');

/** The error of a check that cannot be made. */
export const skipped = (reason: string): Error =>
  Object.assign(new Error(reason), { [SKIPPED]: true });

/** The error of a check that has failed, with what was seen. */
export const problem = (seen: string): Error => new Error(seen);

export const isSkipped = (error: unknown): boolean => SKIPPED in (error as object);
