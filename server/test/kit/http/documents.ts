// Files for uploads, created byte by byte, so that each has exactly the defect that a test
// describes. The images have one color and can be decoded by every decoder.
import { deflateSync } from 'node:zlib';

const CRC_TABLE = Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (CRC_TABLE[(sum ^ byte) & 0xff] as number) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function pngChunk(name: string, data: Uint8Array): Buffer {
  const chunkData = Buffer.concat([Buffer.from(name), data]);
  return Buffer.concat([uint32(data.length), chunkData, uint32(crc32(chunkData))]);
}

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A white PNG. `comment` is text in its metadata. */
export function pngFile(width = 600, height = 400, comment = ''): Buffer {
  const row = Buffer.alloc(1 + width, 0xff);
  row[0] = 0; // unfiltered
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])]);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('tEXt', Buffer.from(`Comment\0${comment}`)),
    pngChunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function jpegSegment(code: number, data: Uint8Array): Buffer {
  const length = data.length + 2;
  return Buffer.concat([Buffer.from([0xff, code, length >> 8, length & 0xff]), data]);
}

const JPEG_START = Buffer.from([0xff, 0xd8]);
const JPEG_END = Buffer.from([0xff, 0xd9]);

/** A gray JPEG. `segments` are further segments in front of its frame header. */
export function jpegFile(width = 600, height = 400, segments: Buffer[] = []): Buffer {
  const frame = [8, height >> 8, height & 0xff, width >> 8, width & 0xff, 1, 1, 0x11, 0];
  // Each table has one code, the bit 0. The bit means no difference and no further coefficients.
  const code = [1, ...Array<number>(15).fill(0), 0];
  const bits = 2 * Math.ceil(width / 8) * Math.ceil(height / 8);
  return Buffer.concat([
    JPEG_START,
    jpegSegment(0xe0, Buffer.from([...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0])),
    ...segments,
    jpegSegment(0xdb, Buffer.from([0, ...Array<number>(64).fill(1)])),
    jpegSegment(0xc0, Buffer.from(frame)),
    jpegSegment(0xc4, Buffer.from([0x00, ...code])),
    jpegSegment(0xc4, Buffer.from([0x10, ...code])),
    jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.alloc(Math.ceil(bits / 8)),
    JPEG_END,
  ]);
}

/** A PDF with an empty page. `trailer` is further text of the trailer, and `note` is a comment. */
export function pdfFile({ trailer = '', note = '' } = {}): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]>>',
  ];
  let text = `%PDF-1.4\n%${note}\n`;
  const offsetLines = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const tableOffset = text.length;
  text += `xref\n0 4\n0000000000 65535 f \n${offsetLines.join('')}`;
  text += `trailer\n<</Size 4/Root 1 0 R${trailer}>>\nstartxref\n${tableOffset}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

/** A file as a client sends it. */
export interface DocumentFile {
  bytes: Uint8Array;
  name?: string;
  type?: string;
}

/** `fields`, and a file where there is one, as a browser's form sends them. */
export function documentForm(
  fields: Readonly<Record<string, string>>,
  file?: DocumentFile,
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (file) {
    const { bytes, name = 'document.pdf', type = 'application/octet-stream' } = file;
    form.append('file', new Blob([new Uint8Array(bytes)], { type }), name);
  }
  return form;
}
