// Token buckets with a constant refill and a burst for each key. Buckets are local to the process, because
// a shared count would cost every request a round trip to the database.
import type { Time } from '../../kernel/effects.ts';

export interface Bucket {
  tokens: number;
  at: Time;
}

export interface Meter {
  readonly perSecond: number;
  readonly burst: number;
  /** The bucket of a key, refilled up to now. */
  bucketOf(key: string): Bucket;
  /** Whether the key has a bucket. A key without one has a full burst. */
  has(key: string): boolean;
}

/**
 * Maximum number of buckets. Beyond it the least recently used bucket is dropped, which resets it to full.
 */
const MAX_BUCKETS = 10_000;

/** `burst` is the capacity of a bucket. */
export function createMeter(perSecond: number, burst: number, now: () => Time): Meter {
  const buckets = new Map<string, Bucket>();
  return {
    perSecond,
    burst,
    has: (key) => buckets.size > 0 && buckets.has(key),
    bucketOf(key) {
      const time = now();
      const existingBucket = buckets.get(key);
      const bucket = existingBucket ?? { tokens: burst, at: time };
      // Reinserted as the most recently used.
      if (existingBucket) buckets.delete(key);
      else if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string);
      buckets.set(key, bucket);
      const refill = (Math.max(0, time - bucket.at) * perSecond) / 1000;
      bucket.tokens = Math.min(burst, bucket.tokens + refill);
      bucket.at = time;
      return bucket;
    },
  };
}
