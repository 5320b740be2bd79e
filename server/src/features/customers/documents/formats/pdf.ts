// Determines whether a PDF file is complete and whether it is encrypted, without parsing it. A
// complete file ends with the offset of its cross-reference table. Encryption is declared in the
// trailer or in a cross-reference stream, anywhere in the file.
import type { Reader } from './reader.ts';

/** Trailing data may follow `%%EOF`. */
const TAIL_BYTES = 2_048;
const END_PATTERN = /startxref\s+\d+\s+%%EOF/;
/** The pattern is bounded in length, so that a match across two chunks is found. */
const ENCRYPTION_PATTERN = /\/Encrypt\s{0,8}(?:\d{1,10}\s{1,8}\d{1,5}\s{1,8}R|<<)/;

export function pdfReader(): Reader {
  let isLocked = false;
  let tail = '';
  return {
    write(chunk) {
      const text =
        tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      isLocked ||= ENCRYPTION_PATTERN.test(text);
      tail = text.slice(-TAIL_BYTES);
    },
    end: () => ({
      complete: END_PATTERN.test(tail),
      readable: true,
      locked: isLocked,
      width: null,
      height: null,
    }),
  };
}
