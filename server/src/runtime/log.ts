// One JSON line for each thing worth knowing, on standard output. Values are chosen by name, never whole
// requests or rows, so a secret cannot slip in; what may still carry one (an error's message from the
// outside) passes through the redaction below.
import { writeSync } from 'node:fs';
import type { World } from '../kernel/world.ts';
import { iso } from '../kernel/world.ts';

export const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type Level = (typeof LEVELS)[number];

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  /** The line of one HTTP request, at level info. */
  request(
    requestId: string | undefined,
    operationId: string,
    platformId: string,
    status: number,
    ms: number,
  ): void;
}

const SECRET_NAME =
  /secret|password|authorization|token$|apikey|masterkey|privatekey|otp|pin$|cvv|pan$/i;
const SECRET_TEXT = [
  /(Basic|Bearer)\s+[A-Za-z0-9+/=._~-]+/g,
  /postgres(ql)?:\/\/[^@\s]*@/g,
  /\b\d{13,19}\b/g,
  // JSON.parse quotes what it could not read, which may have been opened a moment before.
  /'.{1,2}', (\.\.\.)?".*"(\.\.\.)?(?= is not valid JSON)/gs,
];

/** A text without what looks like a secret. */
export function redactText(text: string): string {
  return SECRET_TEXT.reduce((left, pattern) => left.replaceAll(pattern, '[redacted]'), text);
}

function plain(value: unknown, name = '', depth = 0): unknown {
  if (SECRET_NAME.test(name)) return '[redacted]';
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) {
    const { code } = value as { code?: unknown };
    const cause = value.cause === undefined ? {} : { cause: plain(value.cause, '', depth + 1) };
    return {
      message: redactText(value.message),
      code,
      stack: redactText(value.stack ?? ''),
      ...cause,
    };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 4) return '[deep]';
  if (Array.isArray(value)) return value.map((each) => plain(each, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, plain(each, key, depth + 1)]),
  );
}

/** A log that writes lines at or above `level` with `write`. */
export function createLog(world: World, level: Level, write: (line: string) => void): Log {
  const least = LEVELS.indexOf(level);
  const at = (name: Exclude<Level, 'silent'>) => {
    if (LEVELS.indexOf(name) < least) return () => undefined;
    return (fields: Record<string, unknown>, message: string) => {
      const line = { time: iso(world.now()), level: name, message, ...(plain(fields) as object) };
      write(`${JSON.stringify(line)}\n`);
    };
  };
  const requestLines = LEVELS.indexOf('info') >= least;
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    request(requestId, operationId, platformId, status, ms) {
      if (!requestLines) return;
      const time = iso(world.now());
      write(
        `{"time":"${time}","level":"info","requestId":"${requestId}","operationId":"${operationId}",` +
          `"platformId":"${platformId}","status":${status},"ms":${ms.toFixed(1)}}\n`,
      );
    },
  };
}

/** Lines are gathered for this long: a write for each request would cost as much as the request. */
const GATHER_MS = 20;

/**
 * A writer of lines to a file descriptor that gathers them. `flush` writes what is left; an orderly end
 * calls it, a killed process loses at most the last moment.
 */
export function lineWriter(descriptor: number): { write(line: string): void; flush(): void } {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = '';
    if (text) writeAll(descriptor, text);
  }
  return {
    flush,
    write(line) {
      waiting += line;
      timer ??= setTimeout(flush, GATHER_MS).unref();
    },
  };
}

function writeAll(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      // A full pipe is waited for; a reader that has gone is nobody to log to.
      if ((error as { code?: string }).code !== 'EAGAIN') return;
    }
  }
}
