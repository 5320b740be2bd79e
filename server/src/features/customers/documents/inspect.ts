// Inspects the format and the structure of a file during its upload. The first bytes determine the
// format, independently of the declared media type. The result is independent of the chunk sizes.
// It contains findings, on which the document checker bases its verdict.
import type { DocumentFindings, DocumentFormat } from '../../../connectors/ports/documents.ts';
import type { Inspector } from '../../../kernel/contract/upload.ts';
import { jpegReader } from './formats/jpeg.ts';
import { pdfReader } from './formats/pdf.ts';
import { pngReader } from './formats/png.ts';
import type { Reader } from './formats/reader.ts';

const FORMATS: readonly [DocumentFormat, magic: Buffer, () => Reader][] = [
  ['PDF', Buffer.from('%PDF-'), pdfReader],
  ['JPEG', Buffer.from([0xff, 0xd8, 0xff]), jpegReader],
  ['PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), pngReader],
];
const MAX_MAGIC_BYTES = 8;

interface DocumentInspector extends Inspector {
  end(): DocumentFindings;
}

export function documentInspector(): DocumentInspector {
  let size = 0;
  let head: Buffer | undefined = Buffer.alloc(0);
  let format: DocumentFormat | null = null;
  let reader: Reader | undefined;

  function detectFormat(firstBytes: Buffer): void {
    const match = FORMATS.find(([, magic]) => firstBytes.subarray(0, magic.length).equals(magic));
    head = undefined;
    if (!match) return;
    format = match[0];
    reader = match[2]();
    reader.write(firstBytes);
  }

  return {
    write(chunk) {
      size += chunk.length;
      if (!head) return reader?.write(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length >= MAX_MAGIC_BYTES) detectFormat(head);
    },
    end() {
      if (head) detectFormat(head);
      const unknownProperties = {
        complete: false,
        readable: false,
        locked: false,
        width: null,
        height: null,
      };
      return { size, format, ...(reader?.end() ?? unknownProperties) };
    },
  };
}
