// How often one token may ask, and one address with credentials that are not good. Token buckets, refilled
// by the clock as they are looked at: an even pace and two seconds' worth at once. They live in this process
// and are told by headers on every reply, so that a client can slow down before it is refused; each process
// counts by itself, because a shared count would cost every request a trip to the database.
import { isIPv6 } from 'node:net';
import { Fault } from '../kernel/fault.ts';
import type { Time } from '../kernel/world.ts';

/** Requests a second; 0 sets no limit. */
export interface RateLimits {
  /** Of one token. */
  requests: number;
  /** Of one token, to operations whose contract calls them costly; they count among all requests too. */
  costly: number;
  /** Of one address, with credentials that were refused. */
  refused: number;
}

export type LimitName = keyof RateLimits;

export interface Limiter {
  /** Counts a request of a token and writes the headers; throws RATE_LIMITED. */
  admit(reply: HeaderWriter, token: string, costly: boolean): void;
  /**
   * Throws RATE_LIMITED for an address that has shown too many bad credentials, unless these are `proven`:
   * behind a proxy everybody has one address, and nobody may lock out the others.
   */
  checkAddress(address: string, proven: () => boolean): void;
  /** Counts a bad credential. */
  blame(address: string): void;
}

interface HeaderWriter {
  header(name: string, value: string): unknown;
}

interface Bucket {
  left: number;
  at: Time;
}

interface Meter {
  readonly name: LimitName;
  readonly perSecond: number;
  readonly burst: number;
  /** Text of the headers that never change. */
  readonly limit: string;
  readonly policy: string;
  of(key: string): Bucket;
  /** Whether the key has asked lately; the others have full buckets. */
  has(key: string): boolean;
}

const BURST_S = 2;
/** Beyond it the one that was quiet for longest is forgotten, which fills its bucket. */
const MOST_BUCKETS = 10_000;

function meter(name: LimitName, perSecond: number, now: () => Time): Meter | undefined {
  if (perSecond <= 0) return undefined;
  const burst = perSecond * BURST_S;
  const buckets = new Map<string, Bucket>();
  return {
    name,
    perSecond,
    burst,
    limit: String(burst),
    policy: `${burst};w=${BURST_S}`,
    has: (key) => buckets.size > 0 && buckets.has(key),
    of(key) {
      const time = now();
      const known = buckets.get(key);
      const bucket = known ?? { left: burst, at: time };
      // Put back as the latest.
      if (known) buckets.delete(key);
      else if (buckets.size >= MOST_BUCKETS) buckets.delete(buckets.keys().next().value as string);
      buckets.set(key, bucket);
      const gained = (Math.max(0, time - bucket.at) * perSecond) / 1000;
      bucket.left = Math.min(burst, bucket.left + gained);
      bucket.at = time;
      return bucket;
    },
  };
}

function tell(reply: HeaderWriter, { burst, perSecond, limit, policy }: Meter, left: number): void {
  reply.header('RateLimit-Limit', limit);
  reply.header('RateLimit-Remaining', String(Math.floor(left)));
  reply.header('RateLimit-Reset', String(Math.ceil((burst - left) / perSecond)));
  reply.header('RateLimit-Policy', policy);
}

function refusal({ perSecond }: Meter, { left }: Bucket, reason: string): Fault {
  const retryAfterS = Math.max(1, Math.ceil((1 - left) / perSecond));
  return new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

/** An IPv6 address stands for its /64, all of which one guest usually has. */
export function neighbourhood(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':');
}

/** `limited` is told of every request that is refused. */
export function createLimiter(
  limits: RateLimits,
  now: () => Time,
  limited: (limit: LimitName) => void,
): Limiter {
  const requests = meter('requests', limits.requests, now);
  const dear = meter('costly', limits.costly, now);
  const refused = meter('refused', limits.refused, now);

  function refuse(by: Meter, bucket: Bucket, reason: string): never {
    limited(by.name);
    throw refusal(by, bucket, reason);
  }

  function take(reply: HeaderWriter, by: Meter, bucket: Bucket): void {
    const enough = bucket.left >= 1;
    if (enough) bucket.left -= 1;
    tell(reply, by, bucket.left);
    if (!enough) refuse(by, bucket, 'This token sends too many requests. Slow down.');
  }

  return {
    admit(reply, token, costly) {
      const common = requests?.of(token);
      if (requests && common) take(reply, requests, common);
      if (!dear || !costly) return;
      const bucket = dear.of(token);
      // The headers tell of the limit that will be met first.
      if (!common || bucket.left < common.left + 1) take(reply, dear, bucket);
      else bucket.left -= 1;
    },
    checkAddress(address, proven) {
      const key = neighbourhood(address);
      if (!refused?.has(key)) return;
      const bucket = refused.of(key);
      if (bucket.left >= 1 || proven()) return;
      refuse(refused, bucket, 'Too many credentials that are not valid came from this address.');
    },
    blame(address) {
      if (!refused) return;
      const bucket = refused.of(neighbourhood(address));
      bucket.left = Math.max(0, bucket.left - 1);
    },
  };
}
