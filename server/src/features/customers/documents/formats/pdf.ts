// What can be known of a PDF file without reading it as one. It is read from its end, which says where its
// table lies; a file that was cut off has no such end. One that is encrypted says so in its trailer, or in
// the plain head of the table that stands for it, and that may be anywhere.
import type { Reader } from './reader.ts';

/** `%%EOF` may have some rubbish behind it. */
const TAIL_BYTES = 2_048;
const END = /startxref\s+\d+\s+%%EOF/;
/** Of bounded length, so that no cut between two pieces can hide it. */
const ENCRYPTED = /\/Encrypt\s{0,8}(?:\d{1,10}\s{1,8}\d{1,5}\s{1,8}R|<<)/;

export function pdfReader(): Reader {
  let locked = false;
  let tail = '';
  return {
    write(chunk) {
      const text =
        tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      locked ||= ENCRYPTED.test(text);
      tail = text.slice(-TAIL_BYTES);
    },
    end: () => ({
      complete: END.test(tail),
      readable: true,
      locked,
      width: null,
      height: null,
    }),
  };
}
