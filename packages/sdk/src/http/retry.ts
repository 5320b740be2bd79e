// Decides whether and when an attempt is repeated.

const BASE_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;
/** A call with a longer `Retry-After` is not repeated. Its error contains the delay. */
const MAX_RETRY_AFTER_S = 60;

const TRANSIENT_STATUSES = [408, 429, 500, 502, 503, 504];
/** Statuses of calls that were rejected before the operation ran. They need no idempotency key. */
const NOT_STARTED_STATUSES = [429, 503];

/**
 * Whether the same request can succeed later. `X-Should-Retry` takes precedence over the status.
 */
export function isTransient(status: number, headers: Headers): boolean {
  const shouldRetry = headers.get('x-should-retry');
  return shouldRetry ? shouldRetry === 'true' : TRANSIENT_STATUSES.includes(status);
}

/** Seconds of `Retry-After`, which is a number or a date. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (!text) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - Date.now()) / 1000);
}

interface Failure {
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
}

/** Whether a failed attempt may be repeated without a second effect. */
export const isRepeatable = ({ status, retryable }: Failure, isIdempotent: boolean): boolean =>
  retryable && (isIdempotent || NOT_STARTED_STATUSES.includes(status));

/**
 * Milliseconds before the next attempt, with jitter, or undefined if `Retry-After` exceeds the
 * maximum.
 */
export function delayOf({ retryAfter }: Failure, attempt: number): number | undefined {
  const backoff = Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
  const jitteredDelay = backoff * (0.5 + Math.random() / 2);
  if (retryAfter === undefined) return jitteredDelay;
  // Jitter is added, because many clients are rejected at the same moment.
  return retryAfter > MAX_RETRY_AFTER_S ? undefined : retryAfter * 1000 + jitteredDelay / 2;
}

/** Waits for `ms` milliseconds. Rejects with the reason of the signal if it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
