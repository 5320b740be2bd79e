// Delays the responses to requests that are rejected by their head. Without the delay, a client that
// repeats rejected requests immediately uses as much processor time as with accepted requests. The first
// rejections of each second are sent immediately. A delayed rejection only occupies a connection.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMeter } from './bucket.ts';

/** Rejections per second of one platform, operator or address that are sent immediately. */
const UNDELAYED_PER_S = 20;
const DELAY_MS = 1_000;
/** Maximum delayed responses in this process. Further responses are sent immediately. */
const MAX_DELAYED = 4_096;

/**
 * Resolves when a rejection of this platform, operator or address may be sent. Undefined if it may
 * be sent immediately.
 */
type RejectionDelay = (key: string) => Promise<void> | undefined;

export function createRejectionDelay(
  now: () => number = () => performance.now(),
  delayMs = DELAY_MS,
): RejectionDelay {
  const meter = createMeter(UNDELAYED_PER_S, UNDELAYED_PER_S, now);
  let delayedCount = 0;
  return (key) => {
    const bucket = meter.bucketOf(key);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return undefined;
    }
    if (delayedCount >= MAX_DELAYED) return undefined;
    delayedCount += 1;
    return sleep(delayMs, undefined, { ref: false }).finally(() => {
      delayedCount -= 1;
    });
  };
}
