// Rate limits for the requests and bytes of a platform, and for the requests of an address without valid
// credentials. The counts are per process, so N processes allow N times as much. Each reply to valid
// credentials states the limit, so that a client can slow down before it is rejected.
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Bucket, createMeter, type Meter } from './bucket.ts';

/** Amounts per second. Absent or 0 sets no limit. */
export interface RateLimits {
  /** Requests of one platform. */
  requests: number;
  /** Requests of one platform to operations with a rate class, which also count as `requests`. */
  quotes: number;
  /** Rejected credentials of one address. */
  rejected: number;
  /** Requests of one address that need no credential. */
  anonymous: number;
  /** Bytes of request bodies of one platform. */
  bytes: number;
}

type LimitName = keyof RateLimits;

/** The owner of a rate limit. */
export interface LimitOwner {
  /** ID of the platform, or of the operator of a request to the operator API. */
  platformId: string;
  /** An agent or a link of the platform, limited to a share of the platform's limit. */
  share?: string | undefined;
}

export interface Limiter {
  /** Counts a request and writes the headers. Throws RATE_LIMITED. */
  checkRequest(reply: HeaderWriter, owner: LimitOwner, isQuote: boolean): void;
  /** Counts a request that needs no credential. Throws RATE_LIMITED. */
  checkAnonymous(address: string): void;
  /** Counts bytes of a body of this platform, operator or address. Throws RATE_LIMITED. */
  takeBytes(key: string, bytes: number): void;
  /**
   * Counts bytes of a file, and waits while the platform has less than half of its burst. Undefined
   * without a wait.
   */
  waitForBytes(key: string, bytes: number): Promise<void> | undefined;
  /**
   * Throws RATE_LIMITED for an address with too many rejected credentials, unless `wasValid` returns true.
   * Many clients of a proxy share one address, and one client must not block the others.
   */
  checkAddress(address: string, wasValid: () => boolean): void;
  /** Counts a rejected credential. */
  countRejection(address: string): void;
}

interface HeaderWriter {
  header(name: string, value: string): unknown;
}

interface RequestMeter extends Meter {
  readonly name: LimitName;
  /** Header values that never change. */
  readonly limit: string;
  readonly policy: string;
}

const BURST_S = 2;
/** An agent or a link may use the platform's limit divided by this number. */
const SHARES = 10;
/** Minimum burst of the byte limit. The largest JSON body fits. */
const MIN_BYTE_BURST = 1_048_576;
/** Maximum wait before the byte limit is checked again. */
const MAX_WAIT_MS = 1_000;

function requestMeter(
  name: LimitName,
  perSecond: number | undefined,
  now: () => Time,
): RequestMeter | undefined {
  if (!perSecond || perSecond <= 0) return undefined;
  const burst = perSecond * BURST_S;
  const policy = `${burst};w=${BURST_S}`;
  return { name, limit: String(burst), policy, ...createMeter(perSecond, burst, now) };
}

const shareOf = (perSecond: number | undefined) =>
  perSecond ? Math.max(1, Math.floor(perSecond / SHARES)) : 0;

function writeHeaders(reply: HeaderWriter, meter: RequestMeter, remainingTokens: number): void {
  const { burst, perSecond, limit, policy } = meter;
  reply.header('RateLimit-Limit', limit);
  reply.header('RateLimit-Remaining', String(Math.floor(remainingTokens)));
  reply.header('RateLimit-Reset', String(Math.ceil((burst - remainingTokens) / perSecond)));
  reply.header('RateLimit-Policy', policy);
}

function rateLimitFault(
  { perSecond }: Meter,
  { tokens }: Bucket,
  size: number,
  reason: string,
): Fault {
  const retryAfterS = Math.max(1, Math.ceil((size - tokens) / perSecond));
  return new Fault('RATE_LIMITED', reason, undefined, { retryAfterS });
}

/**
 * The network to which limits by address apply. For IPv6 this is the /64, the usual network of one
 * subscriber.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const headGroups = head ? head.split(':') : [];
  const tailGroups = tail ? tail.split(':') : [];
  const zeroCount = tail === undefined ? 0 : 8 - headGroups.length - tailGroups.length;
  return [...headGroups, ...Array<string>(zeroCount).fill('0'), ...tailGroups]
    .slice(0, 4)
    .join(':');
}

const TOO_MANY = {
  platform: 'The request rate limit was exceeded. Wait before retrying.',
  share: 'The request rate limit of this agent or link was exceeded. Wait before retrying.',
  rejected: 'Too many invalid credentials were sent from this IP address. Wait before retrying.',
  anonymous: 'Too many requests were sent from this IP address. Wait before retrying.',
  bytes: 'The limit of request bytes was exceeded. Wait before retrying.',
};

/** Limits the requests of platforms, agents and links. */
function createRequestLimit(
  limits: Partial<RateLimits>,
  now: () => Time,
  onRejection: (limit: LimitName) => void,
): Limiter['checkRequest'] {
  const requestsMeter = requestMeter('requests', limits.requests, now);
  const quotesMeter = requestMeter('quotes', limits.quotes, now);
  const shareRequestsMeter = requestMeter('requests', shareOf(limits.requests), now);
  const shareQuotesMeter = requestMeter('quotes', shareOf(limits.quotes), now);

  return (reply, { platformId, share }, isQuote) => {
    let lowestLimit: { meter: RequestMeter; tokens: number } | undefined;
    const take = (meter: RequestMeter | undefined, key: string, reason: string) => {
      if (!meter) return;
      const bucket = meter.bucketOf(key);
      if (bucket.tokens < 1) {
        writeHeaders(reply, meter, bucket.tokens);
        onRejection(meter.name);
        throw rateLimitFault(meter, bucket, 1, reason);
      }
      bucket.tokens -= 1;
      if (!lowestLimit || bucket.tokens < lowestLimit.tokens)
        lowestLimit = { meter, tokens: bucket.tokens };
    };
    // The share is checked first, so that a request over its share does not count toward the platform's
    // limit.
    if (share !== undefined) {
      take(shareRequestsMeter, share, TOO_MANY.share);
      if (isQuote) take(shareQuotesMeter, share, TOO_MANY.share);
    }
    take(requestsMeter, platformId, TOO_MANY.platform);
    if (isQuote) take(quotesMeter, platformId, TOO_MANY.platform);
    if (lowestLimit) writeHeaders(reply, lowestLimit.meter, lowestLimit.tokens);
  };
}

/** `onRejection` is called for every rejected request. */
export function createLimiter(
  limits: Partial<RateLimits>,
  now: () => Time,
  onRejection: (limit: LimitName) => void,
): Limiter {
  const rejectionMeter = requestMeter('rejected', limits.rejected, now);
  const anonymousMeter = requestMeter('anonymous', limits.anonymous, now);
  const { bytes: rate = 0 } = limits;
  const burst = Math.max(rate * BURST_S, MIN_BYTE_BURST);
  const byteMeter = rate > 0 ? createMeter(rate, burst, now) : undefined;

  return {
    checkRequest: createRequestLimit(limits, now, onRejection),
    checkAnonymous(address) {
      const bucket = anonymousMeter?.bucketOf(networkOf(address));
      if (!anonymousMeter || !bucket) return;
      if (bucket.tokens < 1) {
        onRejection(anonymousMeter.name);
        throw rateLimitFault(anonymousMeter, bucket, 1, TOO_MANY.anonymous);
      }
      bucket.tokens -= 1;
    },
    takeBytes(key, size) {
      const bucket = byteMeter?.bucketOf(key);
      if (!byteMeter || !bucket) return;
      if (bucket.tokens < size) {
        onRejection('bytes');
        throw rateLimitFault(byteMeter, bucket, size, TOO_MANY.bytes);
      }
      bucket.tokens -= size;
    },
    waitForBytes(key, size) {
      if (!byteMeter) return undefined;
      // Half of the burst is reserved for the platform's payments.
      const reserve = burst / 2;
      const take = (): number => {
        const bucket = byteMeter.bucketOf(key);
        if (bucket.tokens < reserve)
          return ((reserve - bucket.tokens) * 1000) / byteMeter.perSecond;
        bucket.tokens -= size;
        return 0;
      };
      const firstWaitMs = take();
      if (firstWaitMs === 0) return undefined;
      return (async () => {
        for (let waitMs = firstWaitMs; waitMs > 0; waitMs = take())
          await sleep(Math.min(waitMs, MAX_WAIT_MS));
      })();
    },
    checkAddress(address, wasValid) {
      const key = networkOf(address);
      if (!rejectionMeter?.has(key)) return;
      const bucket = rejectionMeter.bucketOf(key);
      if (bucket.tokens >= 1 || wasValid()) return;
      onRejection(rejectionMeter.name);
      throw rateLimitFault(rejectionMeter, bucket, 1, TOO_MANY.rejected);
    },
    countRejection(address) {
      if (!rejectionMeter) return;
      const bucket = rejectionMeter.bucketOf(networkOf(address));
      bucket.tokens = Math.max(0, bucket.tokens - 1);
    },
  };
}
