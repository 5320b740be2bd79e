// Sealed files with any chunks, any offset, and changed content.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, openContent, sealContent } from './sealed-stream.ts';

const key = Buffer.alloc(32, 3);
const ID = 'File:00000000-0000-7000-8000-000000000001';
const SEALED = CHUNK_BYTES + 16;

/** Deterministic bytes for a size, with different chunks. */
function sample(size: number): Buffer {
  const blocks: Buffer[] = [];
  for (let index = 0; index * 32 < size; index++) {
    blocks.push(createHash('sha256').update(`${size} ${index}`).digest());
  }
  return Buffer.concat(blocks).subarray(0, size);
}

async function* inChunks(bytes: Buffer, size: number) {
  for (let index = 0; index < bytes.length; index += size)
    yield bytes.subarray(index, index + size);
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const sealBytes = (bytes: Buffer, chunk = 10_000, id = ID, encryptionKey = key) =>
  readAll(sealContent(encryptionKey, id, inChunks(bytes, chunk)));

const readSealed = (bytes: Buffer, { from = 0, chunk = 7_919, id = ID, by = key } = {}) =>
  readAll(openContent(by, id, (offset) => inChunks(bytes.subarray(offset), chunk), from));

const SIZES = [
  0,
  1,
  CHUNK_BYTES - 1,
  CHUNK_BYTES,
  CHUNK_BYTES + 1,
  2 * CHUNK_BYTES - 1,
  2 * CHUNK_BYTES,
  2 * CHUNK_BYTES + 1,
  300_000,
];

describe.each(SIZES)('%i bytes', (size) => {
  const clear = sample(size);

  it('are restored exactly, for any chunks', async () => {
    const firstText = await sealBytes(clear, 1_000_000);
    for (const chunk of [997, CHUNK_BYTES, CHUNK_BYTES + 1]) {
      const text = await sealBytes(clear, chunk);
      expect(text.equals(firstText)).toBe(true);
      expect((await readSealed(text, { chunk })).equals(clear)).toBe(true);
    }
    expect(firstText.length).toBe(size + 16 * Math.max(1, Math.ceil(size / CHUNK_BYTES)));
    expect(size < 16 || !firstText.includes(clear.subarray(0, 16))).toBe(true);
  });

  it('can be read from any offset up to the end only', async () => {
    const text = await sealBytes(clear);
    const edges = SIZES.flatMap((each) => [each - 1, each, each + 1]);
    for (const from of edges.filter((each) => each >= 0 && each <= size)) {
      const remainingBytes = await readSealed(text, { from });
      expect(remainingBytes.equals(clear.subarray(from)), `from ${from}`).toBe(true);
    }
    await expect(readSealed(text, { from: size + 1 })).rejects.toThrow();
    await expect(readSealed(text, { from: size + CHUNK_BYTES })).rejects.toThrow();
  });

  it('are rejected if truncated, extended, changed, or opened as another file', async () => {
    const text = await sealBytes(clear);
    const lengths = [0, 1, 15, SEALED - 1, SEALED, SEALED + 1, 2 * SEALED, text.length - 1];
    for (const length of lengths.filter((each) => each < text.length)) {
      await expect(readSealed(text.subarray(0, length)), `cut to ${length}`).rejects.toThrow(
        /cannot decrypt/,
      );
    }
    for (const suffix of [Buffer.alloc(1), Buffer.alloc(SEALED), text]) {
      await expect(readSealed(Buffer.concat([text, suffix]))).rejects.toThrow(/cannot decrypt/);
    }
    for (const index of [0, Math.floor(text.length / 2), text.length - 1]) {
      const changedText = Buffer.from(text);
      changedText[index] = (changedText[index] as number) ^ 1;
      await expect(readSealed(changedText), `changed at ${index}`).rejects.toThrow(
        /cannot decrypt/,
      );
    }
    await expect(readSealed(text, { id: `${ID}0` })).rejects.toThrow(/cannot decrypt/);
    await expect(readSealed(text, { by: Buffer.alloc(32, 4) })).rejects.toThrow(/cannot decrypt/);
  });
});

describe('chunks', () => {
  it('are rejected if reordered, repeated or omitted', async () => {
    const text = await sealBytes(sample(4 * CHUNK_BYTES));
    const chunk = (index: number) => text.subarray(index * SEALED, (index + 1) * SEALED);
    const orders = [[1, 0, 2, 3], [0, 0, 1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [3]];
    for (const order of orders) {
      await expect(readSealed(Buffer.concat(order.map(chunk)))).rejects.toThrow(/cannot decrypt/);
    }
    expect((await readSealed(Buffer.concat([0, 1, 2, 3].map(chunk)))).length).toBe(4 * CHUNK_BYTES);
  });

  it('are returned before the end is received if they are authentic', async () => {
    const clear = sample(3 * CHUNK_BYTES);
    const text = await sealBytes(clear);
    text[2 * SEALED] = (text[2 * SEALED] as number) ^ 1;
    const receivedChunks: Buffer[] = [];
    const readPromise = async () => {
      for await (const each of openContent(key, ID, () => inChunks(text, 5_000)))
        receivedChunks.push(each);
    };
    await expect(readPromise()).rejects.toThrow(/cannot decrypt/);
    expect(Buffer.concat(receivedChunks).equals(clear.subarray(0, 2 * CHUNK_BYTES))).toBe(true);
  });

  it('pass on an error of the source', async () => {
    async function* failingSource() {
      yield Buffer.alloc(100_000);
      throw new Error('the connection is lost');
    }
    await expect(readAll(sealContent(key, ID, failingSource()))).rejects.toThrow(
      'the connection is lost',
    );
  });
});
