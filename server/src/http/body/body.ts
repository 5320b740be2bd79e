// Reads the JSON body of an admitted request and checks size, encoding, depth and number of values
// before it is parsed. The limits bound the time for which one body can delay other requests.
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { Fault } from '../../kernel/fault.ts';
import { excessOf } from './json-limits.ts';

/** Maximum levels of objects and lists in a body. Operations read at most ten. */
const MAX_DEPTH = 32;
/** Maximum items of one list. No operation accepts more. */
const MAX_ITEMS = 1_000;
/** Bytes of the size limit for each permitted value. Valid bodies have fewer values. */
const BYTES_PER_VALUE = 16;
/** Maximum values of the largest bodies, which need about 20 ms of parsing and validation. */
const MAX_VALUES = 8_192;

export interface JsonBody {
  raw: string;
  json: unknown;
}

export const tooLargeFault = (maxBytes: number): Fault =>
  new Fault('INVALID_INPUT', `The body is larger than ${maxBytes} bytes.`);

/** A smaller chunk counts as this size, because many small chunks cost more than their bytes. */
const MIN_CHUNK_BYTES = 64;
/** Maximum chunks of a body. */
const MAX_CHUNKS = 4_096;

/** Reads a complete body. `count` is called for each chunk and may throw. */
export function readBody(
  body: Readable,
  maxBytes: number,
  count: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void) => {
      body.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      try {
        if (size > maxBytes) throw tooLargeFault(maxBytes);
        if (chunks.length > MAX_CHUNKS) {
          throw new Fault(
            'INVALID_INPUT',
            `The body was sent in more than ${MAX_CHUNKS} chunks. Send larger chunks.`,
          );
        }
        count(Math.max(chunk.length, MIN_CHUNK_BYTES));
      } catch (error) {
        body.pause();
        end(() => reject(error as Error));
      }
    };
    const onEnd = () =>
      end(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onCut = () =>
      end(() =>
        reject(new Fault('INVALID_INPUT', 'The connection closed before the body was complete.')),
      );
    if (body.readableEnded) return onEnd();
    if (body.destroyed) return onCut();
    body.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  });
}

/** Patterns of the escapes of a high and a low surrogate. */
const [HIGH, LOW] = [String.raw`\\ud[89ab][0-9a-f]{2}`, String.raw`\\ud[c-f][0-9a-f]{2}`];

/** An unpaired surrogate escape, which PostgreSQL stores in JSON and cannot read. */
const UNPAIRED_SURROGATE = new RegExp(
  String.raw`(?<!\\)(?:\\\\)*(?:${HIGH}(?!${LOW})|(?<!${HIGH})${LOW})`,
  'i',
);

const malformedBodyFault = (reason: string) => new Fault('INVALID_INPUT', reason);

/** Parses a body. Throws INVALID_INPUT. `maxBytes` is the limit of the contract. */
export function parseJson(bytes: Buffer, maxBytes: number): JsonBody {
  // Replacement characters would make two different names equal.
  if (!isUtf8(bytes)) throw malformedBodyFault('The body is not encoded in UTF-8.');
  const text = bytes.toString();
  if (text.trim() === '') return { raw: '', json: undefined };
  // PostgreSQL text cannot contain NUL, raw or escaped.
  if (/\0|\\u0000/.test(text)) throw malformedBodyFault('The body contains a NUL character.');
  if (UNPAIRED_SURROGATE.test(text))
    throw malformedBodyFault('The body contains an unpaired UTF-16 surrogate.');
  const maxValues = Math.min(MAX_VALUES, Math.floor(maxBytes / BYTES_PER_VALUE));
  const limits = { depth: MAX_DEPTH, values: maxValues, items: MAX_ITEMS };
  const exceededLimit = excessOf(text, limits);
  if (exceededLimit === 'depth') {
    throw malformedBodyFault(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (exceededLimit === 'items')
    throw malformedBodyFault(`A list in the body has more than ${MAX_ITEMS} items.`);
  if (exceededLimit === 'values')
    throw malformedBodyFault(`The body has more than ${maxValues} values.`);
  try {
    return { raw: text, json: JSON.parse(text) as unknown };
  } catch {
    throw malformedBodyFault('The body is not valid JSON.');
  }
}
