// What is seen of a file on its way in, and what the built-in check makes of that: every way in which a file
// is useless, and that neither how it is cut nor what stands behind its end changes anything.
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
import { judgeFile } from '../../../connectors/local/documents.ts';
import type { DocumentFindings } from '../../../connectors/ports/documents.ts';
import { documentInspector } from './inspect.ts';

function found(...chunks: Uint8Array[]): DocumentFindings {
  const inspector = documentInspector();
  for (const chunk of chunks) inspector.write(chunk);
  return inspector.end();
}

const verdict = (bytes: Uint8Array) => {
  const said = judgeFile(found(bytes));
  return said.state === 'accepted' ? 'accepted' : said.code;
};

const cut = (bytes: Buffer, share: number) => bytes.subarray(0, Math.floor(bytes.length * share));

/** The small preview that cameras put into a photograph: a whole JPEG in a segment. */
const preview = jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), jpegFile(160, 120)]));

describe('what a file is', () => {
  it('shows in its first bytes', () => {
    expect(found(pdfFile())).toMatchObject({ format: 'PDF', complete: true, readable: true });
    expect(found(pngFile(640, 480))).toMatchObject({ format: 'PNG', width: 640, height: 480 });
    expect(found(jpegFile(640, 480))).toMatchObject({ format: 'JPEG', width: 640, height: 480 });
  });

  it('is nothing that we know otherwise', () => {
    const others = [
      'GIF89a......',
      'PK\u0003\u0004',
      '%PDF',
      '\u0089PNG',
      '<html>%PDF-1.4</html>',
      'x',
    ];
    for (const text of others) {
      expect(found(Buffer.from(text, 'latin1')), text).toMatchObject({ format: null });
    }
    expect(found(Buffer.from([0xff, 0xd8]))).toMatchObject({ format: null, size: 2 });
    expect(found()).toMatchObject({ format: null, size: 0 });
  });
});

describe('the built-in check', () => {
  it('takes what is whole', () => {
    const progressive = jpegFile(600, 400);
    progressive[progressive.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc2;
    for (const file of [
      ...[pdfFile(), pngFile(), jpegFile(), progressive, jpegFile(600, 400, [preview])],
      ...[pngFile(300, 300), jpegFile(300, 300)],
    ]) {
      expect(verdict(file)).toBe('accepted');
    }
  });

  it('takes what has something behind its end', () => {
    for (const file of [pdfFile(), pngFile(), jpegFile()]) {
      expect(verdict(Buffer.concat([file, Buffer.alloc(1_500, 0x20)]))).toBe('accepted');
    }
    expect(verdict(Buffer.concat([jpegFile(), jpegFile(20, 20)]))).toBe('accepted');
  });

  it('refuses what breaks off, whatever ends inside it', () => {
    const photo = jpegFile(600, 400, [preview]);
    for (const file of [pdfFile({ note: 'x'.repeat(3_000) }), pngFile(), jpegFile(), photo]) {
      for (const share of [0.3, 0.6, 0.9]) expect(verdict(cut(file, share))).toBe('INCOMPLETE');
      expect(verdict(file.subarray(0, -12))).toBe('INCOMPLETE');
    }
    const endless = pngFile();
    endless.writeUInt32BE(0x7fffffff, endless.indexOf('tEXt') - 4);
    expect(verdict(endless)).toBe('INCOMPLETE');
  });

  it('refuses what is encrypted', () => {
    for (const trailer of ['/Encrypt 9 0 R', '/Encrypt<</Filter/Standard>>', '/Encrypt\n9\n0\nR']) {
      expect(verdict(pdfFile({ trailer }))).toBe('UNSUITABLE_DOCUMENT');
    }
    expect(verdict(pdfFile({ note: 'how to /Encrypt a file' }))).toBe('accepted');
  });

  it('refuses what contradicts its format', () => {
    const noise = Buffer.alloc(2_000, 0x5a);
    expect(verdict(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), noise]))).toBe('INCOMPLETE');
    expect(verdict(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2]), noise]))).toBe(
      'UNSUITABLE_DOCUMENT',
    );
    const frameless = Buffer.from([0xff, 0xd8, 0xff, 0xd9]);
    expect(verdict(frameless)).toBe('UNSUITABLE_DOCUMENT');
    const headless = [PNG_SIGNATURE, pngChunk('IDAT', noise), pngChunk('IEND', Buffer.alloc(0))];
    expect(verdict(Buffer.concat(headless))).toBe('UNSUITABLE_DOCUMENT');
    expect(verdict(pngFile(0, 0))).toBe('UNSUITABLE_DOCUMENT');
  });

  it('refuses pictures in which nothing can be read', () => {
    for (const file of [pngFile(1, 1), pngFile(299, 4_000), jpegFile(4_000, 299)]) {
      expect(verdict(file)).toBe('LOW_QUALITY');
    }
  });
});

describe('how a file is cut', () => {
  const files = [
    pdfFile({ trailer: '/Encrypt 9 0 R', note: 'x'.repeat(5_000) }),
    pdfFile({ note: 'x'.repeat(5_000) }),
    pngFile(310, 320, 'IEND'.repeat(50)),
    jpegFile(310, 320, [preview]),
    Buffer.from('neither of these'),
  ];

  it('makes no difference', () => {
    const anyFile = fc.constantFrom(...files).chain((whole) =>
      fc.record({
        bytes: fc.nat(whole.length).map((end) => whole.subarray(0, end)),
        sizes: fc.array(fc.nat(700), { minLength: 1, maxLength: 30 }),
      }),
    );
    fc.assert(
      fc.property(anyFile, ({ bytes, sizes }) => {
        const chunks: Uint8Array[] = [];
        let at = 0;
        for (const size of sizes) {
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(found(...chunks, bytes.subarray(at))).toEqual(found(bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('makes no difference even where every byte comes alone', () => {
    for (const file of files) {
      const bytes = Array.from(file, (byte) => Uint8Array.of(byte));
      expect(found(...bytes)).toEqual(found(file));
    }
  });
});
