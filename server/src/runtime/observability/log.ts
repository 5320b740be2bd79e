// Writes one JSON line per log event to standard output. Fields are selected by name, and complete requests
// or rows are never logged, so that no secret is logged. Texts that may contain a secret (external error
// messages) are redacted.
import { writeSync } from 'node:fs';
import type { Effects } from '../../kernel/effects.ts';
import { iso } from '../../kernel/effects.ts';
import type { RequestRecord } from './request-record.ts';

export const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type Level = (typeof LEVELS)[number];

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  /** The line of one HTTP request, at level info. */
  request(record: RequestRecord): void;
  /** Writes outstanding counts. Called at the end of the process. */
  flush(): void;
}

/** Warnings and errors of one kind share a line for this period, except at debug level. */
const COLLAPSE_MS = 1_000;
/** Maximum kinds with a shared line. Lines of further kinds are written separately. */
const MAX_KINDS = 1_000;

const SECRET_NAME =
  /secret|password|authorization|token$|apikey|masterkey|privatekey|otp|pin$|cvv|pan$/i;
const SECRET_TEXT = [
  /(Basic|Bearer)\s+[A-Za-z0-9+/=._~-]+/g,
  /postgres(ql)?:\/\/[^@\s]*@/g,
  /\b\d{13,19}\b/g,
  // JSON.parse quotes the text that it could not parse, which may be a decrypted secret.
  /'.{1,2}', (\.\.\.)?".*"(\.\.\.)?(?= is not valid JSON)/gs,
];

/** Replaces all texts that have the form of a secret. */
export function redactText(text: string, mark = '[redacted]'): string {
  return SECRET_TEXT.reduce((line, pattern) => line.replaceAll(pattern, mark), text);
}

function plainValue(value: unknown, name = '', depth = 0): unknown {
  if (SECRET_NAME.test(name)) return '[redacted]';
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error) {
    const { code } = value as { code?: unknown };
    const cause =
      value.cause === undefined ? {} : { cause: plainValue(value.cause, '', depth + 1) };
    return {
      message: redactText(value.message),
      code,
      stack: redactText(value.stack ?? ''),
      ...cause,
    };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 4) return '[deep]';
  if (Array.isArray(value)) return value.map((each) => plainValue(each, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, plainValue(each, key, depth + 1)]),
  );
}

type Fields = Record<string, unknown>;

interface RepeatedLine {
  count: number;
  lastFields: Fields;
}

/** Codes and names of an error and its causes. Without a code, the line that threw the error is used. */
function kindOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return typeof error;
  const { code, name, cause, stack = '' } = error as Error & { code?: unknown };
  const location = code === undefined ? /\n\s+at .*/.exec(stack)?.[0].trim() : code;
  return `${name} ${location} ${cause === undefined ? '' : kindOf(cause, depth + 1)}`;
}

/** The fields without the stacks of errors. */
function withoutStacks(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { stack, ...fields } = value as Fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, each]) => [key, withoutStacks(each)]),
  );
}

const countedFieldsOf = ({ count, lastFields }: RepeatedLine): Fields => ({
  ...(withoutStacks(plainValue(lastFields)) as Fields),
  count,
});

/**
 * Writes the first line of a kind immediately and completely. Later lines of the same second become a
 * single line at its end, with their count and the fields of the last line. A failing dependency would fill
 * the disk with stacks without this limit.
 */
function createLineLimiter(write: (fields: Fields, message: string) => void) {
  const linesByKind = new Map<string, RepeatedLine>();

  function finish(key: string, message: string): void {
    const repeatedLine = linesByKind.get(key);
    linesByKind.delete(key);
    if (!repeatedLine || repeatedLine.count === 0) return;
    write(countedFieldsOf(repeatedLine), message);
    openPeriod(key, message);
  }

  function openPeriod(key: string, message: string): void {
    linesByKind.set(key, { count: 0, lastFields: {} });
    const timer = setTimeout(finish, COLLAPSE_MS, key, message);
    timer.unref();
  }

  return {
    add(fields: Fields, message: string): void {
      const { err, kind, problem } = fields;
      const key = JSON.stringify([message, kindOf(err), kind, problem]);
      const repeatedLine = linesByKind.get(key);
      if (repeatedLine) {
        repeatedLine.count += 1;
        repeatedLine.lastFields = fields;
        return;
      }
      write(fields, message);
      if (linesByKind.size < MAX_KINDS) openPeriod(key, message);
    },
    flush(): void {
      for (const [key, repeatedLine] of linesByKind) {
        linesByKind.delete(key);
        const [message] = JSON.parse(key) as [string];
        if (repeatedLine.count) write(countedFieldsOf(repeatedLine), message);
      }
    },
  };
}

const member = (name: string, value: string | undefined) =>
  value === undefined ? '' : `,"${name}":"${value}"`;

/** Cache of redacted names of tokens, which clients choose. */
const tokenNames = new Map<string, string>();
const MAX_NAMES = 1_000;

function tokenNameOf(name: string | undefined): string {
  if (name === undefined) return '';
  let field = tokenNames.get(name);
  if (field === undefined) {
    if (tokenNames.size >= MAX_NAMES) tokenNames.clear();
    field = `,"tokenName":${JSON.stringify(redactText(name))}`;
    tokenNames.set(name, field);
  }
  return field;
}

/**
 * The line of a request, built without a serializer, because each request has a line. Only the token name
 * is free text.
 */
const requestLine = (time: string, record: RequestRecord) =>
  `{"time":"${time}","level":"info","requestId":"${record.requestId}",` +
  `"operationId":"${record.operationId}","platformId":"${record.platformId}",` +
  `"status":${record.status},"ms":${record.ms.toFixed(1)},"method":"${record.method}",` +
  `"path":"${record.path}"${member('errorCode', record.errorCode)},` +
  `"callerType":"${record.callerType}"${member('tokenId', record.tokenId)}` +
  `${tokenNameOf(record.tokenName)}${member('agentId', record.agentId)}` +
  `${member('address', record.address)}` +
  `${member('idempotencyKeyHash', record.idempotencyKeyHash)}` +
  `,"replayed":${record.isReplayed}${member('resourceId', record.resourceId)}}\n`;

/** A log that writes lines at or above `level` with `write`. */
export function createLog(effects: Effects, level: Level, write: (line: string) => void): Log {
  const minIndex = LEVELS.indexOf(level);
  const flushFunctions: (() => void)[] = [];
  const loggerAt = (name: Exclude<Level, 'silent'>) => {
    if (LEVELS.indexOf(name) < minIndex) return () => undefined;
    const writeLine = (fields: Fields, message: string) => {
      const fieldsWithTime = {
        time: iso(effects.now()),
        level: name,
        message,
        ...(plainValue(fields) as object),
      };
      write(`${JSON.stringify(fieldsWithTime)}\n`);
    };
    if (level === 'debug' || name === 'debug' || name === 'info') return writeLine;
    const { add, flush } = createLineLimiter(writeLine);
    flushFunctions.push(flush);
    return add;
  };
  const logsRequests = LEVELS.indexOf('info') >= minIndex;
  return {
    debug: loggerAt('debug'),
    info: loggerAt('info'),
    warn: loggerAt('warn'),
    error: loggerAt('error'),
    request(record) {
      if (logsRequests) write(requestLine(iso(effects.now()), record));
    },
    flush() {
      for (const each of flushFunctions) each();
    },
  };
}

/** Period for which lines are buffered. A write for each request would cost as much as the request. */
const BUFFER_MS = 20;

interface LineWriter {
  write(line: string): void;
  flush(): void;
}

/**
 * A buffered writer of lines to a file descriptor. `flush` writes the remaining lines at an orderly
 * shutdown. A killed process loses at most the lines of the last interval. If processes share the
 * descriptor (`isShared`), lines up to `ATOMIC_BYTES` do not mix.
 */
export function lineWriter(descriptor: number, isShared = false): LineWriter {
  let unwrittenText = '';
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const text = unwrittenText;
    unwrittenText = '';
    for (const chunk of isShared ? chunksOf(text) : [text]) writeAll(descriptor, chunk);
  }
  return {
    flush,
    write(line) {
      unwrittenText += line;
      timer ??= setTimeout(flush, BUFFER_MS).unref();
    },
  };
}

/** Maximum size of a write to a pipe that is not mixed with writes of other processes (PIPE_BUF). */
const ATOMIC_BYTES = 4_096;

/** Joins complete lines up to the atomic size. A longer line is a separate chunk. */
function chunksOf(text: string): string[] {
  if (Buffer.byteLength(text) <= ATOMIC_BYTES) return [text];
  const chunks: string[] = [];
  let chunk = '';
  let bytes = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const length = Buffer.byteLength(line);
    if (bytes > 0 && bytes + length > ATOMIC_BYTES) {
      chunks.push(chunk);
      chunk = '';
      bytes = 0;
    }
    chunk += line;
    bytes += length;
  }
  return [...chunks, chunk];
}

function writeAll(descriptor: number, text: string): void {
  let remainingBytes = Buffer.from(text);
  while (remainingBytes.length) {
    try {
      remainingBytes = remainingBytes.subarray(writeSync(descriptor, remainingBytes));
    } catch (error) {
      // A full pipe is retried. A closed pipe has no reader.
      if ((error as { code?: string }).code !== 'EAGAIN') return;
    }
  }
}
