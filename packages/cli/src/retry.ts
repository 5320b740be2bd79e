// Errors after which a command repeats a request, and the delay before each attempt.

/** Whether the same request can succeed later. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'RailheadError' &&
  (error as { retryable?: unknown }).retryable === true;

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

/** Milliseconds before the next attempt, with jitter. At least the `Retry-After` of the error. */
export const backoff = (attempt: number, error?: unknown): number => {
  const { retryAfter } = (error ?? {}) as { retryAfter?: number };
  const delay = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
  return Math.max(delay, (retryAfter ?? 0) * 1_000);
};
