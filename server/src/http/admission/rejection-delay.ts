// Delays the responses to requests that are rejected by their head. A client that repeats them immediately
// would otherwise use as much processor time as accepted requests. The first rejections of
// each second are sent immediately. A delayed one only occupies a connection.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMeter } from './bucket.ts';

/** Rejections per second of one platform or address that are sent immediately. */
const UNDELAYED_PER_S = 20;
const DELAY_MS = 1_000;
/** Maximum delayed responses in this process. Further ones are not delayed. */
const MAX_DELAYED = 4_096;

/** Resolves when a rejection of this platform or address may be sent, or undefined: immediately. */
type RejectionDelay = (key: string) => Promise<void> | undefined;

export function createRejectionDelay(
  now: () => number = () => performance.now(),
  delayMs = DELAY_MS,
): RejectionDelay {
  const undelayed = createMeter(UNDELAYED_PER_S, UNDELAYED_PER_S, now);
  let delayed = 0;
  return (key) => {
    const bucket = undelayed.of(key);
    if (bucket.remaining >= 1) {
      bucket.remaining -= 1;
      return undefined;
    }
    if (delayed >= MAX_DELAYED) return undefined;
    delayed += 1;
    return sleep(delayMs, undefined, { ref: false }).finally(() => {
      delayed -= 1;
    });
  };
}
