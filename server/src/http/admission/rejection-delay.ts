// Delays answers to requests that are rejected from their head. A client that sends its next request when
// the last one is answered would otherwise use the processor as much by rejected requests as by accepted
// ones. The first rejections of each second are answered at once; a delayed one holds a connection only.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMeter } from './bucket.ts';

/** Rejections per second of one platform or address that are answered at once. */
const UNDELAYED_PER_S = 20;
const DELAY_MS = 1_000;
/** Answers delayed at once in this process; further ones are not delayed. */
const MAX_DELAYED = 4_096;

/** Waits before a rejection of this platform or address is answered, where there were many. */
type RejectionDelay = (key: string) => Promise<void> | undefined;

export function createRejectionDelay(
  now: () => number = () => performance.now(),
  delayMs = DELAY_MS,
): RejectionDelay {
  const undelayed = createMeter(UNDELAYED_PER_S, UNDELAYED_PER_S, now);
  let delayed = 0;
  return (key) => {
    const bucket = undelayed.of(key);
    if (bucket.left >= 1) {
      bucket.left -= 1;
      return undefined;
    }
    if (delayed >= MAX_DELAYED) return undefined;
    delayed += 1;
    return sleep(delayMs, undefined, { ref: false }).finally(() => {
      delayed -= 1;
    });
  };
}
