// Inspection of uploaded files and the result of the built-in checker. Defects are found
// independently of chunk sizes and of data after the end of the file.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  jpegFile,
  jpegSegment,
  PNG_SIGNATURE,
  pdfFile,
  pngChunk,
  pngFile,
} from '../../../../test/kit/http/documents.ts';
import { checkFile } from '../../../connectors/local/documents.ts';
import type { DocumentFindings } from '../../../connectors/ports/documents.ts';
import { documentInspector } from './inspect.ts';

function findingsOf(...chunks: Uint8Array[]): DocumentFindings {
  const inspector = documentInspector();
  for (const chunk of chunks) inspector.write(chunk);
  return inspector.end();
}

const checkBytes = (bytes: Uint8Array) => {
  const result = checkFile(findingsOf(bytes));
  return result.state === 'accepted' ? 'accepted' : result.code;
};

const truncate = (bytes: Buffer, share: number) =>
  bytes.subarray(0, Math.floor(bytes.length * share));

/** Preview that cameras embed in a photograph: a complete JPEG in a segment. */
const preview = jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), jpegFile(160, 120)]));

describe('the format of a file', () => {
  it('is determined by its first bytes', () => {
    expect(findingsOf(pdfFile())).toMatchObject({ format: 'PDF', complete: true, readable: true });
    expect(findingsOf(pngFile(640, 480))).toMatchObject({ format: 'PNG', width: 640, height: 480 });
    expect(findingsOf(jpegFile(640, 480))).toMatchObject({
      format: 'JPEG',
      width: 640,
      height: 480,
    });
  });

  it('is null for other contents', () => {
    const otherContents = [
      'GIF89a......',
      'PK\u0003\u0004',
      '%PDF',
      '\u0089PNG',
      '<html>%PDF-1.4</html>',
      'x',
    ];
    for (const text of otherContents) {
      expect(findingsOf(Buffer.from(text, 'latin1')), text).toMatchObject({ format: null });
    }
    expect(findingsOf(Buffer.from([0xff, 0xd8]))).toMatchObject({ format: null, size: 2 });
    expect(findingsOf()).toMatchObject({ format: null, size: 0 });
  });
});

describe('the built-in check', () => {
  it('accepts complete files', () => {
    const progressivePhoto = jpegFile(600, 400);
    progressivePhoto[progressivePhoto.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc2;
    for (const file of [
      ...[pdfFile(), pngFile(), jpegFile(), progressivePhoto, jpegFile(600, 400, [preview])],
      ...[pngFile(300, 300), jpegFile(300, 300)],
    ]) {
      expect(checkBytes(file)).toBe('accepted');
    }
  });

  it('accepts data after the end of the file', () => {
    for (const file of [pdfFile(), pngFile(), jpegFile()]) {
      expect(checkBytes(Buffer.concat([file, Buffer.alloc(1_500, 0x20)]))).toBe('accepted');
    }
    expect(checkBytes(Buffer.concat([jpegFile(), jpegFile(20, 20)]))).toBe('accepted');
  });

  it('rejects truncated files, even with an embedded end marker', () => {
    const photo = jpegFile(600, 400, [preview]);
    for (const file of [pdfFile({ note: 'x'.repeat(3_000) }), pngFile(), jpegFile(), photo]) {
      for (const share of [0.3, 0.6, 0.9])
        expect(checkBytes(truncate(file, share))).toBe('INCOMPLETE');
      expect(checkBytes(file.subarray(0, -12))).toBe('INCOMPLETE');
    }
    const fileWithOversizedChunk = pngFile();
    fileWithOversizedChunk.writeUInt32BE(0x7fffffff, fileWithOversizedChunk.indexOf('tEXt') - 4);
    expect(checkBytes(fileWithOversizedChunk)).toBe('INCOMPLETE');
  });

  it('rejects encrypted files', () => {
    for (const trailer of ['/Encrypt 9 0 R', '/Encrypt<</Filter/Standard>>', '/Encrypt\n9\n0\nR']) {
      expect(checkBytes(pdfFile({ trailer }))).toBe('UNSUITABLE_DOCUMENT');
    }
    expect(checkBytes(pdfFile({ note: 'how to /Encrypt a file' }))).toBe('accepted');
  });

  it('rejects malformed files', () => {
    const fillerBytes = Buffer.alloc(2_000, 0x5a);
    expect(checkBytes(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), fillerBytes]))).toBe(
      'INCOMPLETE',
    );
    expect(
      checkBytes(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2]), fillerBytes])),
    ).toBe('UNSUITABLE_DOCUMENT');
    const fileWithoutFrame = Buffer.from([0xff, 0xd8, 0xff, 0xd9]);
    expect(checkBytes(fileWithoutFrame)).toBe('UNSUITABLE_DOCUMENT');
    const chunksWithoutHeader = [
      PNG_SIGNATURE,
      pngChunk('IDAT', fillerBytes),
      pngChunk('IEND', Buffer.alloc(0)),
    ];
    expect(checkBytes(Buffer.concat(chunksWithoutHeader))).toBe('UNSUITABLE_DOCUMENT');
    expect(checkBytes(pngFile(0, 0))).toBe('UNSUITABLE_DOCUMENT');
  });

  it('rejects images of low resolution', () => {
    for (const file of [pngFile(1, 1), pngFile(299, 4_000), jpegFile(4_000, 299)]) {
      expect(checkBytes(file)).toBe('LOW_QUALITY');
    }
  });
});

describe('the chunk sizes', () => {
  const files = [
    pdfFile({ trailer: '/Encrypt 9 0 R', note: 'x'.repeat(5_000) }),
    pdfFile({ note: 'x'.repeat(5_000) }),
    pngFile(310, 320, 'IEND'.repeat(50)),
    jpegFile(310, 320, [preview]),
    Buffer.from('neither of these'),
  ];

  it('do not affect the result', () => {
    const anyFile = fc.constantFrom(...files).chain((file) =>
      fc.record({
        bytes: fc.nat(file.length).map((length) => file.subarray(0, length)),
        sizes: fc.array(fc.nat(700), { minLength: 1, maxLength: 30 }),
      }),
    );
    fc.assert(
      fc.property(anyFile, ({ bytes, sizes }) => {
        const chunks: Uint8Array[] = [];
        let offset = 0;
        for (const size of sizes) {
          chunks.push(bytes.subarray(offset, offset + size));
          offset += size;
        }
        expect(findingsOf(...chunks, bytes.subarray(offset))).toEqual(findingsOf(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('do not affect the result for chunks of one byte', () => {
    for (const file of files) {
      const bytes = Array.from(file, (byte) => Uint8Array.of(byte));
      expect(findingsOf(...bytes)).toEqual(findingsOf(file));
    }
  });
});
