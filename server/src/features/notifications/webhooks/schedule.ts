// When an event is sent again, as data. The steps are those that Standard Webhooks suggests: quick at
// first, for a receiver that is restarting, then spread over a week, for one whose operator is away.
import type { Effects, Time } from '../../../kernel/effects.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From the end of one try to the next; after the last step its delay repeats. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
];

/** No try starts later than this after the event. */
export const GIVE_UP_AFTER_MS = 7 * DAY;

/** How long a receiver has to answer, connecting included. */
export const ANSWER_TIMEOUT_MS = 30 * SECOND;

/** Share of a delay by which it is moved, up or down, so that failures do not come back together. */
const JITTER = 0.1;

/** Sent once, and only to see whether it arrives. */
const NEVER_RETRIED = new Set(['TEST']);

export type AttemptResult = 'delivered' | 'retry' | 'dropped';

/** 409 is a receiver that says it has the event already. */
export const isDelivered = (status: number | null): boolean =>
  status !== null && ((status >= 200 && status < 300) || status === 409);

/** From -1 (inclusive) to 1. */
function swing(effects: Effects): number {
  const [a = 0, b = 0, c = 0] = effects.random(3);
  return ((a * 256 + b) * 256 + c) / 2 ** 23 - 1;
}

/**
 * When to try again after try number `attempt` (from 1) of an event failed at `at`; null when that was the
 * last one.
 */
export function nextAttemptAt(
  effects: Effects,
  event: { type: string; created_at: Time },
  attempt: number,
  at: Time,
): Time | null {
  if (NEVER_RETRIED.has(event.type)) return null;
  const step = Math.min(attempt, RETRY_DELAYS_MS.length) - 1;
  const delayMs = RETRY_DELAYS_MS[step] as number;
  const next = at + Math.round(delayMs * (1 + JITTER * swing(effects)));
  return next > event.created_at + GIVE_UP_AFTER_MS ? null : next;
}
