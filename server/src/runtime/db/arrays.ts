// PostgreSQL arrays in binary form. Each column of a batch is sent as one array without quoting, so the
// server copies values instead of parsing them. A value that does not fit its type throws before the batch
// is sent, so that the error can be attributed to its change set.
import type { ColumnType } from './table.ts';

/** A growing buffer. A full `buffer` is replaced by a longer buffer. */
export interface Sink {
  buffer: Buffer;
  at: number;
}

export const createSink = (bytes: number): Sink => ({ buffer: Buffer.allocUnsafe(bytes), at: 0 });

/** Ensures space for `bytes` further bytes and returns the buffer for them. */
export function reserve(sink: Sink, bytes: number): Buffer {
  if (sink.at + bytes <= sink.buffer.length) return sink.buffer;
  const longerBuffer = Buffer.allocUnsafe(Math.max(sink.buffer.length * 2, sink.at + bytes));
  sink.buffer.copy(longerBuffer, 0, 0, sink.at);
  sink.buffer = longerBuffer;
  return longerBuffer;
}

/** The OID of a column's element type in PostgreSQL's catalog. */
const ELEMENT_OID: Record<ColumnType, number> = {
  text: 25,
  int4: 23,
  int8: 20,
  bool: 16,
  json: 114,
  time: 1184,
  bytes: 17,
  int8s: 25,
  texts: 25,
};

/**
 * The array's type in SQL. Lists vary in length, so each list is sent as a string and cast to `LIST_TYPE`.
 */
export const ARRAY_TYPE: Record<ColumnType, string> = {
  text: 'text[]',
  int4: 'int4[]',
  int8: 'int8[]',
  bool: 'bool[]',
  json: 'json[]',
  time: 'timestamptz[]',
  bytes: 'bytea[]',
  int8s: 'text[]',
  texts: 'text[]',
};

/** The type to which an element of such an array is cast for its column. */
export const LIST_TYPE: Partial<Record<ColumnType, string>> = { int8s: 'int8[]', texts: 'text[]' };

const HEADER_BYTES = 20;
const EPOCH_2000_MS = 946_684_800_000;
const TWO_32 = 4_294_967_296;
const INT4_MAX = 2_147_483_647;
const INT8_MAX = 9_223_372_036_854_775_807n;

const typeMismatch = (type: ColumnType, value: unknown) =>
  new TypeError(`a ${typeof value} does not fit a column of type ${type}`);

function putText(sink: Sink, value: unknown, type: ColumnType): void {
  if (typeof value !== 'string') throw typeMismatch(type, value);
  const buffer = reserve(sink, 4 + value.length * 3);
  const bytes = buffer.write(value, sink.at + 4);
  buffer.writeInt32BE(bytes, sink.at);
  sink.at += 4 + bytes;
}

/** The escapes of NUL and lone surrogates, which PostgreSQL stores in JSON and cannot read. */
const UNREADABLE_ESCAPES = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

function putJson(sink: Sink, value: unknown): void {
  const text = JSON.stringify(value);
  // UTF-8 encoding also replaces lone surrogates with U+FFFD.
  const readableText = text?.includes('\\u') ? text.replace(UNREADABLE_ESCAPES, '$1\ufffd') : text;
  putText(sink, readableText, 'json');
}

function putBytes(sink: Sink, value: unknown): void {
  if (!(value instanceof Uint8Array)) throw typeMismatch('bytes', value);
  const buffer = reserve(sink, 4 + value.length);
  buffer.writeInt32BE(value.length, sink.at);
  buffer.set(value, sink.at + 4);
  sink.at += 4 + value.length;
}

function putInt4(sink: Sink, value: unknown): void {
  if (!Number.isInteger(value) || Math.abs(value as number) > INT4_MAX)
    throw typeMismatch('int4', value);
  const buffer = reserve(sink, 8);
  buffer.writeInt32BE(4, sink.at);
  buffer.writeInt32BE(value as number, sink.at + 4);
  sink.at += 8;
}

function putInt8(sink: Sink, value: unknown): void {
  if (typeof value !== 'bigint' || value > INT8_MAX || value < -INT8_MAX)
    throw typeMismatch('int8', value);
  const buffer = reserve(sink, 12);
  buffer.writeInt32BE(8, sink.at);
  buffer.writeBigInt64BE(value, sink.at + 4);
  sink.at += 12;
}

/**
 * Converts milliseconds since 1970 to microseconds since 2000. Exact for every time that `Date` can
 * hold.
 */
function putTime(sink: Sink, value: unknown): void {
  if (!Number.isInteger(value)) throw typeMismatch('time', value);
  const buffer = reserve(sink, 12);
  const ms = (value as number) - EPOCH_2000_MS;
  const micros = ms * 1000;
  buffer.writeInt32BE(8, sink.at);
  if (Number.isSafeInteger(micros)) {
    buffer.writeInt32BE(Math.floor(micros / TWO_32), sink.at + 4);
    buffer.writeUInt32BE(micros >>> 0, sink.at + 8);
  } else buffer.writeBigInt64BE(BigInt(ms) * 1000n, sink.at + 4);
  sink.at += 12;
}

function putBool(sink: Sink, value: unknown): void {
  if (typeof value !== 'boolean') throw typeMismatch('bool', value);
  const buffer = reserve(sink, 5);
  buffer.writeInt32BE(1, sink.at);
  buffer[sink.at + 4] = value ? 1 : 0;
  sink.at += 5;
}

function putInt8s(sink: Sink, value: unknown): void {
  const isValidElement = (each: unknown) =>
    typeof each === 'bigint' && each <= INT8_MAX && each >= -INT8_MAX;
  if (!Array.isArray(value) || !value.every(isValidElement)) throw typeMismatch('int8s', value);
  putText(sink, `{${value.join()}}`, 'int8s');
}

function putTexts(sink: Sink, value: unknown): void {
  const isValidElement = (each: unknown) => typeof each === 'string';
  if (!Array.isArray(value) || !value.every(isValidElement)) throw typeMismatch('texts', value);
  const quotedItems = value.map((each: string) => `"${each.replace(/["\\]/g, '\\$&')}"`);
  putText(sink, `{${quotedItems.join()}}`, 'texts');
}

function putNull(sink: Sink): void {
  reserve(sink, 4).writeInt32BE(-1, sink.at);
  sink.at += 4;
}

const PUT: Record<ColumnType, (sink: Sink, value: unknown) => void> = {
  text: (sink, value) => putText(sink, value, 'text'),
  json: putJson,
  int4: putInt4,
  int8: putInt8,
  bool: putBool,
  time: putTime,
  bytes: putBytes,
  int8s: putInt8s,
  texts: putTexts,
};

/** Appends one array. Null and undefined become SQL null. */
export function putArray(sink: Sink, type: ColumnType, values: readonly unknown[]): void {
  const start = sink.at;
  const put = PUT[type];
  reserve(sink, HEADER_BYTES);
  sink.at += values.length ? HEADER_BYTES : 12;
  let nullFlag = 0;
  for (const value of values) {
    if (value === null || value === undefined) {
      nullFlag = 1;
      putNull(sink);
    } else put(sink, value);
  }
  const { buffer } = sink;
  buffer.writeInt32BE(values.length ? 1 : 0, start); // Number of dimensions.
  buffer.writeInt32BE(nullFlag, start + 4);
  buffer.writeInt32BE(ELEMENT_OID[type], start + 8);
  if (values.length === 0) return;
  buffer.writeInt32BE(values.length, start + 12);
  buffer.writeInt32BE(1, start + 16); // Index of the first element.
}

const scratch = createSink(16_384);

/**
 * An array as a parameter for `pg`, which sends a Buffer as binary. Throws TypeError for a value of another
 * type.
 */
export function pgArray(type: ColumnType, values: readonly unknown[]): Buffer {
  scratch.at = 0;
  putArray(scratch, type, values);
  return Buffer.from(scratch.buffer.subarray(0, scratch.at));
}
