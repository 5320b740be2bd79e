// Requirements for the document check of every connector, and the file names that script the
// sandbox.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { pdfFile } from '../../../test/kit/http/documents.ts';
import { offersOf } from '../../../test/kit/payments/connectors.ts';
import { connectorRegistry } from '../registry.ts';
import { REASON_BY_SUFFIX } from '../sandbox/identity/documents.ts';
import type { DocumentCheck, DocumentFindings } from './documents.ts';

const effects = testEffects();
const CODES = Object.keys(REASON_BY_SUFFIX);

const VALID_FINDINGS: DocumentFindings = {
  ...{ size: 1_000, format: 'JPEG', complete: true, readable: true, locked: false },
  ...{ width: 1_200, height: 900 },
};

const documentOf = (fileName: string, findings: Partial<DocumentFindings> = {}): DocumentCheck => ({
  documentType: 'PASSPORT',
  side: null,
  country: 'DE',
  documentNumber: 'C01X00T47',
  issuingAuthority: 'Stadt Köln',
  fileName,
  findings: { ...VALID_FINDINGS, ...findings },
  async *content() {
    yield pdfFile();
  },
});

const FAULTY_FINDINGS: readonly Partial<DocumentFindings>[] = [
  { complete: false },
  { readable: false },
  { locked: true },
  { width: 12, height: 12 },
  { width: null, height: null },
];

describe.each(offersOf('documents', effects))(
  'the document check of the %s connector in %s',
  (...offer) => {
    const [, , documents] = offer;

    it('accepts a valid document, and returns the same result for a repeated check', async () => {
      expect(await documents.check(documentOf('passport.jpg'))).toEqual({ state: 'accepted' });
      for (const findings of FAULTY_FINDINGS) {
        const document = documentOf('passport.jpg', findings);
        expect(await documents.check(document)).toEqual(await documents.check(document));
      }
    });

    it('rejects only with a documented code, and with no content of the document', async () => {
      const names = ['passport.jpg', ...CODES.map((code) => `Lovelace-${code}.jpg`)];
      for (const document of names.flatMap((name) =>
        FAULTY_FINDINGS.map((each) => documentOf(name, each)),
      )) {
        const verdict = await documents.check(document);
        if (verdict?.state !== 'rejected') continue;
        expect(CODES).toContain(verdict.code);
        expect(verdict.reason).not.toMatch(/C01X00T47|Köln|Lovelace/);
      }
    });
  },
);

describe('file names that script the sandbox', () => {
  const { documents } = connectorRegistry(effects)('sandbox');
  const resultOf = async (fileName: string) => {
    const verdict = await documents?.check(documentOf(fileName));
    return verdict?.state === 'rejected' ? verdict.code : 'accepted';
  };

  it.each(CODES)('end in %s', async (code) => {
    for (const name of [code, `${code}.png`, `id-${code}.jpg`, `a.b.${code}.pdf`]) {
      expect(await resultOf(name), name).toBe(code);
    }
    for (const name of [`${code}-id.png`, `id-${code.toLowerCase()}.png`, `${code}.id.png`]) {
      expect(await resultOf(name), name).toBe('accepted');
    }
  });
});
