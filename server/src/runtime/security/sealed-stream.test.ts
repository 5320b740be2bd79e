// Sealed files with any chunks, any offset, and changed content.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, openContent, sealContent } from './sealed-stream.ts';

const key = Buffer.alloc(32, 3);
const ID = 'File:00000000-0000-7000-8000-000000000001';
const SEALED_CHUNK_BYTES = CHUNK_BYTES + 16;

/** Deterministic bytes of a size, which differ in each chunk. */
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

const sealBytes = (bytes: Buffer, chunkSize = 10_000, id = ID, encryptionKey = key) =>
  readAll(sealContent(encryptionKey, id, inChunks(bytes, chunkSize)));

const readSealed = (
  bytes: Buffer,
  { from = 0, chunk = 7_919, id = ID, decryptionKey = key } = {},
) =>
  readAll(
    openContent(decryptionKey, id, (offset) => inChunks(bytes.subarray(offset), chunk), from),
  );

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
  const plainBytes = sample(size);

  it('are restored exactly, for any chunks', async () => {
    const firstSealedBytes = await sealBytes(plainBytes, 1_000_000);
    for (const chunk of [997, CHUNK_BYTES, CHUNK_BYTES + 1]) {
      const sealedBytes = await sealBytes(plainBytes, chunk);
      expect(sealedBytes.equals(firstSealedBytes)).toBe(true);
      expect((await readSealed(sealedBytes, { chunk })).equals(plainBytes)).toBe(true);
    }
    expect(firstSealedBytes.length).toBe(size + 16 * Math.max(1, Math.ceil(size / CHUNK_BYTES)));
    expect(size < 16 || !firstSealedBytes.includes(plainBytes.subarray(0, 16))).toBe(true);
  });

  it('can be read from any offset up to the end only', async () => {
    const sealedBytes = await sealBytes(plainBytes);
    const offsets = SIZES.flatMap((each) => [each - 1, each, each + 1]);
    for (const from of offsets.filter((each) => each >= 0 && each <= size)) {
      const remainingBytes = await readSealed(sealedBytes, { from });
      expect(remainingBytes.equals(plainBytes.subarray(from)), `from ${from}`).toBe(true);
    }
    await expect(readSealed(sealedBytes, { from: size + 1 })).rejects.toThrow();
    await expect(readSealed(sealedBytes, { from: size + CHUNK_BYTES })).rejects.toThrow();
  });

  it('are rejected if truncated, extended, changed, or opened as another file', async () => {
    const sealedBytes = await sealBytes(plainBytes);
    const lengths = [
      0,
      1,
      15,
      SEALED_CHUNK_BYTES - 1,
      SEALED_CHUNK_BYTES,
      SEALED_CHUNK_BYTES + 1,
      2 * SEALED_CHUNK_BYTES,
      sealedBytes.length - 1,
    ];
    for (const length of lengths.filter((each) => each < sealedBytes.length)) {
      await expect(readSealed(sealedBytes.subarray(0, length)), `cut to ${length}`).rejects.toThrow(
        /cannot decrypt/,
      );
    }
    for (const suffix of [Buffer.alloc(1), Buffer.alloc(SEALED_CHUNK_BYTES), sealedBytes]) {
      await expect(readSealed(Buffer.concat([sealedBytes, suffix]))).rejects.toThrow(
        /cannot decrypt/,
      );
    }
    for (const index of [0, Math.floor(sealedBytes.length / 2), sealedBytes.length - 1]) {
      const changedBytes = Buffer.from(sealedBytes);
      changedBytes[index] = (changedBytes[index] as number) ^ 1;
      await expect(readSealed(changedBytes), `changed at ${index}`).rejects.toThrow(
        /cannot decrypt/,
      );
    }
    await expect(readSealed(sealedBytes, { id: `${ID}0` })).rejects.toThrow(/cannot decrypt/);
    await expect(readSealed(sealedBytes, { decryptionKey: Buffer.alloc(32, 4) })).rejects.toThrow(
      /cannot decrypt/,
    );
  });
});

describe('chunks', () => {
  it('are rejected if reordered, repeated or omitted', async () => {
    const sealedBytes = await sealBytes(sample(4 * CHUNK_BYTES));
    const chunk = (index: number) =>
      sealedBytes.subarray(index * SEALED_CHUNK_BYTES, (index + 1) * SEALED_CHUNK_BYTES);
    const orders = [[1, 0, 2, 3], [0, 0, 1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [3]];
    for (const order of orders) {
      await expect(readSealed(Buffer.concat(order.map(chunk)))).rejects.toThrow(/cannot decrypt/);
    }
    expect((await readSealed(Buffer.concat([0, 1, 2, 3].map(chunk)))).length).toBe(4 * CHUNK_BYTES);
  });

  it('are returned before the end is received if they are authentic', async () => {
    const plainBytes = sample(3 * CHUNK_BYTES);
    const sealedBytes = await sealBytes(plainBytes);
    sealedBytes[2 * SEALED_CHUNK_BYTES] = (sealedBytes[2 * SEALED_CHUNK_BYTES] as number) ^ 1;
    const receivedChunks: Buffer[] = [];
    const readChunks = async () => {
      for await (const each of openContent(key, ID, () => inChunks(sealedBytes, 5_000)))
        receivedChunks.push(each);
    };
    await expect(readChunks()).rejects.toThrow(/cannot decrypt/);
    expect(Buffer.concat(receivedChunks).equals(plainBytes.subarray(0, 2 * CHUNK_BYTES))).toBe(
      true,
    );
  });

  it('fail with the error of the source', async () => {
    async function* failingSource() {
      yield Buffer.alloc(100_000);
      throw new Error('the connection is lost');
    }
    await expect(readAll(sealContent(key, ID, failingSource()))).rejects.toThrow(
      'the connection is lost',
    );
  });
});
