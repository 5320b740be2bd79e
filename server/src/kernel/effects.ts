// Clock, randomness and network access. The real implementation is runtime/config/system-effects.ts. Tests
// and the simulator use implementations with a controlled clock. No other module reads the time of day,
// generates random bytes or calls an external system, so a run can be repeated from its seed.

/** Milliseconds since the epoch. */
export type Time = number;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Limit for the complete exchange: name resolution, connection and response body. */
  timeoutMs: number;
  /** Maximum size of the response body in bytes. Further bytes are discarded. */
  maxBytes: number;
  /** Only https to a public address, checked after name resolution. */
  publicOnly: boolean;
  /**
   * Whether the request may be sent again if its connection breaks, because the receiver ignores
   * duplicates.
   */
  repeatable?: boolean;
}

export interface HttpReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A request whose body or response may be too large for memory. */
export interface StreamRequest {
  url: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Includes `content-length` if there is a body. */
  headers: Record<string, string>;
  body?: AsyncIterable<Uint8Array>;
  /** Limit for connecting, and for inactivity in both directions. */
  timeoutMs: number;
  /** Limit for the complete exchange, including the response body. */
  deadlineMs: number;
}

export interface StreamReply {
  status: number;
  headers: Record<string, string>;
  /** Must be read completely or destroyed, which closes the connection. */
  body: AsyncIterable<Uint8Array>;
}

export interface CallLimits {
  /** Limit for the complete call, including the connection. */
  timeoutMs: number;
  /** Whether an error is a valid response of the service, which does not open its circuit. */
  isValidResponse?(error: unknown): boolean;
}

export interface Effects {
  now(): Time;
  random(bytes: number): Uint8Array;
  /** Performs one exchange without redirects. Rejects if no response is received. */
  http(request: HttpRequest): Promise<HttpReply>;
  /** Streaming variant for services that the operator configures. Resolves with the response head. */
  stream(request: StreamRequest): Promise<StreamReply>;
  /**
   * Runs a library that opens its own sockets. Rejects at the deadline and aborts `signal`, so that the
   * library closes them.
   */
  call<R>(limits: CallLimits, work: (signal: AbortSignal) => Promise<R>): Promise<R>;
}

const DAY_MS = 86_400_000;
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, value) => String(value).padStart(3, '0'));
const TWO_DIGITS = THREE_DIGITS.slice(0, 100).map((digits) => digits.slice(1));

let lastTime = 0;
let lastText = new Date(0).toISOString();
let lastDay = Number.NaN;
let lastDate = '';

/**
 * Formats a time as RFC 3339 in UTC, the format of the API. The last time and its day are cached, because
 * most calls repeat them and `Date` is ten times slower.
 */
export function iso(time: Time): string {
  if (time === lastTime) return lastText;
  const day = Math.floor(time / DAY_MS);
  if (day !== lastDay) {
    const midnight = new Date(day * DAY_MS).toISOString();
    lastDate = midnight.slice(0, midnight.indexOf('T'));
    lastDay = day;
  }
  const ms = Math.floor(time - day * DAY_MS);
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}`;
  lastText = `${lastDate}T${clock}:${TWO_DIGITS[seconds % 60]}.${THREE_DIGITS[ms % 1_000]}Z`;
  lastTime = time;
  return lastText;
}
