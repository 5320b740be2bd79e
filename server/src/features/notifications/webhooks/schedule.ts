// Retry schedule of webhook delivery, as suggested by Standard Webhooks. The first delays are
// short, for a receiver that restarts. Later delays extend over a week, for a receiver that needs
// manual repair.
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { PlatformTime } from '../../../runtime/clocks/clocks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Delays from the end of one attempt to the next attempt. The last delay repeats. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
];

/** Maximum time from an event to a retry. */
export const RETRY_PERIOD_MS = 7 * DAY;

/** Response timeout, including the connection. */
export const ANSWER_TIMEOUT_MS = 30 * SECOND;

/** Relative jitter in both directions, so that retries do not coincide. */
const JITTER = 0.1;

/** Test events are sent once. */
const NEVER_RETRIED_TYPES = new Set(['TEST']);

export type AttemptResult = 'delivered' | 'retry' | 'dropped';

/** 409 means that the receiver already has the event. */
export const isDelivered = (status: number | null): boolean =>
  status !== null && ((status >= 200 && status < 300) || status === 409);

/** A random number from -1 (inclusive) to 1 (exclusive). */
function jitterOf(effects: Effects): number {
  const [a = 0, b = 0, c = 0] = effects.random(3);
  return ((a * 256 + b) * 256 + c) / 2 ** 23 - 1;
}

/**
 * Time of the next attempt after attempt number `attempt` (from 1) failed at `attemptedAt`, or null
 * after the last attempt. A platform's own clock has no jitter, so that equal calls lead to
 * equal attempts.
 */
export function nextAttemptAt(
  effects: Effects,
  event: { type: string; created_at: Time },
  attempt: number,
  attemptedAt: PlatformTime,
): Time | null {
  if (NEVER_RETRIED_TYPES.has(event.type)) return null;
  const step = Math.min(attempt, RETRY_DELAYS_MS.length) - 1;
  const delayMs = RETRY_DELAYS_MS[step] as number;
  const jitter = attemptedAt.ownClock ? 0 : JITTER * jitterOf(effects);
  const nextTime = attemptedAt.now + Math.round(delayMs * (1 + jitter));
  return nextTime > event.created_at + RETRY_PERIOD_MS ? null : nextTime;
}
