// Content sealed in chunks, so that sealing and reading need one chunk in memory and reading can start at
// any offset. Chunks of 64 KiB are sealed with AES-256-GCM in the STREAM construction. The nonce counts the
// chunks and marks the last chunk, and the ID of the file is authenticated with every chunk. Chunks that
// were truncated, omitted, swapped or copied from another file therefore do not open.
import { decrypt, encrypt } from './crypto.ts';

/**
 * Clear bytes of every chunk except the last, which has the remaining bytes. The chunk of an empty file has
 * no bytes.
 */
export const CHUNK_BYTES = 65_536;
const TAG_BYTES = 16;
const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;

/**
 * The nonce of a chunk has a four-byte counter and a byte that marks the last chunk. The first seven bytes
 * are constant, because a key seals only one file.
 */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/**
 * Splits a stream into chunks of `size` and marks the last chunk, which may be empty. The bytes of a chunk
 * are valid until the next chunk is requested.
 */
async function* chunksOf(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  const chunk = Buffer.allocUnsafe(size);
  let length = 0;
  for await (const input of source) {
    for (let index = 0; index < input.length; ) {
      // A full chunk is yielded when a further byte arrives. Without a further byte, it is the last chunk.
      if (length === size) {
        yield { bytes: chunk, isLast: false };
        length = 0;
      }
      const part = input.subarray(index, index + size - length);
      chunk.set(part, length);
      length += part.length;
      index += part.length;
    }
  }
  yield { bytes: chunk.subarray(0, length), isLast: true };
}

/** Seals `source` under a key that must be used only once. */
export async function* sealContent(
  key: Uint8Array,
  id: string,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const aad = Buffer.from(id);
  let index = 0;
  for await (const { bytes, isLast } of chunksOf(source, CHUNK_BYTES)) {
    yield encrypt(key, nonceOf(index++, isLast), bytes, aad);
  }
}

/**
 * The clear content from byte `from` on. `get` returns the sealed bytes from an offset. Throws an error if
 * a chunk does not open. All returned chunks are authentic.
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
  let skippedBytes = from - index * CHUNK_BYTES;
  for await (const { bytes, isLast } of chunksOf(get(index * SEALED_BYTES), SEALED_BYTES)) {
    const clearBytes = openChunk(key, nonceOf(index++, isLast), bytes, aad, id);
    if (skippedBytes > clearBytes.length) throw new Error(`${id} has no byte ${from}`);
    if (skippedBytes < clearBytes.length)
      yield skippedBytes ? clearBytes.subarray(skippedBytes) : clearBytes;
    skippedBytes = 0;
  }
}

function openChunk(
  key: Uint8Array,
  nonce: Buffer,
  ciphertext: Buffer,
  aad: Buffer,
  id: string,
): Buffer {
  try {
    return decrypt(key, nonce, ciphertext, aad);
  } catch (cause) {
    throw new Error(`cannot decrypt ${id}: damaged, truncated, or sealed with another key`, {
      cause,
    });
  }
}
