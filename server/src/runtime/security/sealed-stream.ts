// Content sealed in chunks, so that neither sealing nor reading needs all of it in memory and
// reading can start at any offset. Chunks of 64 KiB are sealed with AES-256-GCM in the STREAM
// construction: the nonce counts the chunks and marks the last one, so chunks that were truncated,
// omitted, swapped or taken from another file do not open. The id of the file is authenticated with
// every chunk.
import { decrypt, encrypt } from './crypto.ts';

/**
 * Clear bytes of every chunk except the last, which has the remaining ones, none for an empty file.
 */
export const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;

/**
 * Seven constant bytes, because a key seals only one file. A four-byte counter. One byte that marks
 * the last chunk.
 */
function nonceOf(index: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

/**
 * Splits a stream into chunks of `size`. Marks the last one, which may be empty. The bytes of a
 * chunk are valid until the next is requested.
 */
async function* chunksOf(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ bytes: Buffer; last: boolean }> {
  const chunk = Buffer.allocUnsafe(size);
  let length = 0;
  for await (const input of source) {
    for (let index = 0; index < input.length; ) {
      // A full chunk is yielded when a further byte arrives. Otherwise it is the last.
      if (length === size) {
        yield { bytes: chunk, last: false };
        length = 0;
      }
      const part = input.subarray(index, index + size - length);
      chunk.set(part, length);
      length += part.length;
      index += part.length;
    }
  }
  yield { bytes: chunk.subarray(0, length), last: true };
}

/** Seals `source` under a key that seals nothing else. */
export async function* sealContent(
  key: Uint8Array,
  id: string,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const aad = Buffer.from(id);
  let index = 0;
  for await (const { bytes, last } of chunksOf(source, CHUNK_BYTES)) {
    yield encrypt(key, nonceOf(index++, last), bytes, aad);
  }
}

/**
 * The clear content from byte `from` on. `get` returns the sealed bytes from an offset. Throws one
 * error if a chunk does not open. All chunks returned before it are authentic.
 */
export async function* openContent(
  key: Uint8Array,
  id: string,
  get: (from: number) => AsyncIterable<Uint8Array>,
  from = 0,
): AsyncGenerator<Buffer> {
  const aad = Buffer.from(id);
  // The offset after a full last chunk belongs to that chunk.
  let index = Math.floor(Math.max(0, from - 1) / CHUNK_BYTES);
  let skip = from - index * CHUNK_BYTES;
  for await (const { bytes, last } of chunksOf(get(index * SEALED_BYTES), SEALED_BYTES)) {
    const clear = openSegment(key, nonceOf(index++, last), bytes, aad, id);
    if (skip > clear.length) throw new Error(`${id} has no byte ${from}`);
    if (skip < clear.length) yield skip ? clear.subarray(skip) : clear;
    skip = 0;
  }
}

function openSegment(
  key: Uint8Array,
  nonce: Buffer,
  sealed: Buffer,
  aad: Buffer,
  id: string,
): Buffer {
  try {
    return decrypt(key, nonce, sealed, aad);
  } catch (cause) {
    throw new Error(`cannot decrypt ${id}: damaged, truncated, or sealed with another key`, {
      cause,
    });
  }
}
