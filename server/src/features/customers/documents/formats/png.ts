// Parses the chunks of a PNG file (length, name, data, checksum) from IHDR to IEND. IHDR contains
// the size of the image. A length beyond the end of the file indicates truncation.
import type { Reader } from './reader.ts';

const SIGNATURE_BYTES = 8;
const CHECKSUM_BYTES = 4;
/** Length and name. */
const HEAD_BYTES = 8;
/** Length, name, width and height. */
const FIRST_HEAD_BYTES = 16;
const IHDR_BYTES = 13;

export function pngReader(): Reader {
  let bytesToSkip = SIGNATURE_BYTES;
  let head: number[] = [];
  let size: { width: number; height: number } | undefined;
  let state: 'chunks' | 'last-chunk' | 'done' | 'broken' = 'chunks';

  const uint32At = (offset: number) =>
    (head.slice(offset, offset + 4) as [number, number, number, number]).reduce(
      (sum, byte) => sum * 256 + byte,
      0,
    );

  function startChunk(): void {
    const length = uint32At(0);
    const name = String.fromCharCode(...head.slice(4, 8));
    if (!size) {
      size = { width: uint32At(8), height: uint32At(12) };
      const isHeader = name === 'IHDR' && length === IHDR_BYTES && size.width && size.height;
      if (!isHeader) state = 'broken';
    } else if (name === 'IEND') state = 'last-chunk';
    bytesToSkip = length + CHECKSUM_BYTES - (head.length - HEAD_BYTES);
    head = [];
  }

  function write(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length; ) {
      if (state === 'done' || state === 'broken') return;
      if (bytesToSkip > 0) {
        const step = Math.min(bytesToSkip, chunk.length - index);
        index += step;
        bytesToSkip -= step;
        if (bytesToSkip === 0 && state === 'last-chunk') state = 'done';
        continue;
      }
      head.push(chunk[index++] as number);
      if (head.length === (size ? HEAD_BYTES : FIRST_HEAD_BYTES)) startChunk();
    }
  }

  return {
    write,
    end: () => ({
      complete: state === 'done',
      readable: state !== 'broken',
      locked: false,
      width: (state !== 'broken' && size?.width) || null,
      height: (state !== 'broken' && size?.height) || null,
    }),
  };
}
