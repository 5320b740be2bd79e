// Content sealed piece by piece, so that neither sealing nor reading needs it whole and reading can begin
// anywhere. Pieces of 64 KiB are sealed with AES-256-GCM in the manner called STREAM: the nonce counts the
// pieces and marks the last one, so pieces that were cut off, left out, swapped or brought in from another
// file do not open. The id of the file is sealed in with every piece.
import { decrypt, encrypt } from './crypto.ts';

/** Clear bytes of every piece but the last, which has as many as are left: none in an empty file. */
export const PIECE_BYTES = 65_536;
const TAG_BYTES = 16;
const SEALED_BYTES = PIECE_BYTES + TAG_BYTES;

/**
 * Seven bytes that need no chance, because a key seals one file and no second one; four that count; one
 * that says whether more follows.
 */
function nonceOf(at: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(at, 7);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

/**
 * Cuts a stream into pieces of `size`; the last one, which may be empty, is known for it. The bytes of a
 * piece are good until the next is asked for.
 */
async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ bytes: Buffer; last: boolean }> {
  const piece = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      // A full piece waits for one more byte: without it, it is the last.
      if (filled === size) {
        yield { bytes: piece, last: false };
        filled = 0;
      }
      const taken = chunk.subarray(at, at + size - filled);
      piece.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  }
  yield { bytes: piece.subarray(0, filled), last: true };
}

/** Seals `source` under a key that seals nothing else. */
export async function* sealContent(
  key: Uint8Array,
  id: string,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const aad = Buffer.from(id);
  let at = 0;
  for await (const { bytes, last } of piecesOf(source, PIECE_BYTES)) {
    yield encrypt(key, nonceOf(at++, last), bytes, aad);
  }
}

/**
 * The clear content from byte `from` on; `get` answers the sealed bytes from an offset. Throws one plain
 * error where a piece does not open; what was handed out before it is genuine.
 */
export async function* openContent(
  key: Uint8Array,
  id: string,
  get: (from: number) => AsyncIterable<Uint8Array>,
  from = 0,
): AsyncGenerator<Buffer> {
  const aad = Buffer.from(id);
  // The end of a full last piece has no piece of its own: it is reached by way of that one.
  let at = Math.floor(Math.max(0, from - 1) / PIECE_BYTES);
  let skip = from - at * PIECE_BYTES;
  for await (const { bytes, last } of piecesOf(get(at * SEALED_BYTES), SEALED_BYTES)) {
    const clear = opened(key, nonceOf(at++, last), bytes, aad, id);
    if (skip > clear.length) throw new Error(`${id} has no byte ${from}`);
    if (skip < clear.length) yield skip ? clear.subarray(skip) : clear;
    skip = 0;
  }
}

function opened(key: Uint8Array, nonce: Buffer, sealed: Buffer, aad: Buffer, id: string): Buffer {
  try {
    return decrypt(key, nonce, sealed, aad);
  } catch (cause) {
    throw new Error(`cannot decrypt ${id}: damaged, truncated, or sealed with another key`, {
      cause,
    });
  }
}
