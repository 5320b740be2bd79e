// The document checker that accepts or rejects uploads, and the encryption of stored documents.
// Documents are readable only with the keys. An erasure deletes the keys.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import {
  billFields,
  type DocumentHarness,
  newPng,
  openDocumentHarness,
  passportFields,
  statusAndCode,
} from '../../../../test/kit/customers/documents.ts';
import { jpegFile, pdfFile, pngFile } from '../../../../test/kit/http/documents.ts';
import type { DocumentCheck, DocumentVerdict } from '../../../connectors/ports/documents.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { REASON_BY_SUFFIX } from '../../../connectors/sandbox/identity/documents.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { customers } from '../records/store.ts';
import { eraseDocuments, fileOf } from './document.ts';
import { addDocument, documentsOf } from './index.ts';
import { documentInspector } from './inspect.ts';

const harness = openForFile(openDocumentHarness);
let app: DocumentHarness['app'];
beforeAll(async () => {
  app = harness.app;
});

async function readAll(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('the check of a document', () => {
  it.each(Object.entries(REASON_BY_SUFFIX))(
    'rejects with %s in the sandbox by file name',
    async (code, reason) => {
      const holder = await harness.createPerson();
      const response = await harness.upload(billFields(holder), newPng(`bill-${code}.png`));
      expect([...statusAndCode(response), response.body.reason]).toEqual([400, code, reason]);
      expect(await documentsOf(app.runtime, [holder])).toEqual([]);
      await harness.uploadDocument(billFields(holder), newPng(`${code}-bill.png`));
    },
  );

  it('checks the structure of files in production', async () => {
    const holder = await harness.createPerson(app.production);
    const check = async (bytes: Uint8Array) =>
      statusAndCode(await harness.upload(billFields(holder), { bytes }, app.production));
    expect(await check(pngFile(299, 500))).toEqual([400, 'LOW_QUALITY']);
    expect(await check(jpegFile().subarray(0, -300))).toEqual([400, 'INCOMPLETE']);
    const encryptedFile = pdfFile({ trailer: '/Encrypt 9 0 R' });
    expect(await check(encryptedFile)).toEqual([400, 'UNSUITABLE_DOCUMENT']);
    await harness.uploadDocument(
      billFields(holder),
      { bytes: jpegFile(), name: 'EXPIRED.jpg' },
      app.production,
    );
  });

  it('passes the complete document to the connector and applies its verdict', async () => {
    const holder = await harness.createPerson();
    const bytes = jpegFile();
    const checks: DocumentCheck[] = [];
    const contents: Buffer[] = [];
    const addWithVerdict = async (verdict: DocumentVerdict) => {
      const caller = systemCaller(app.platform.id, 'production');
      const options = { maxBytes: 1_000_000, inspect: documentInspector, fileName: 'id.jpg' };
      const file = await app.files.put(caller, Readable.from([bytes]), options);
      const check = async (document: DocumentCheck) => {
        checks.push(document);
        contents.push(await readAll(document.content()));
        return verdict;
      };
      const connectors = (): Connectors => ({ documents: { check } });
      const input = {
        documentHolder: holder,
        documentType: 'NATIONAL_ID' as const,
        side: 'FRONT' as const,
        country: 'DE',
        documentNumber: ' L01X00T47 ',
        issuingAuthority: 'Stadt Köln',
        file,
      };
      return app.operate((ctx) => addDocument(ctx, { connectors, files: app.files }, input));
    };
    const rejectedUpload = addWithVerdict({
      state: 'rejected',
      code: 'DATA_MISMATCH',
      reason: 'Another name.',
    });
    await expect(rejectedUpload).rejects.toMatchObject({
      code: 'DATA_MISMATCH',
      message: 'Another name.',
    });
    expect(await documentsOf(app.runtime, [holder])).toEqual([]);
    const { row } = await addWithVerdict({ state: 'accepted' });
    expect(await documentsOf(app.runtime, [holder])).toEqual([row]);
    expect(checks[1]).toMatchObject({
      ...{ documentType: 'NATIONAL_ID', side: 'FRONT', country: 'DE', fileName: 'id.jpg' },
      ...{ documentNumber: 'L01X00T47', issuingAuthority: 'Stadt Köln' },
      findings: { format: 'JPEG', complete: true, width: 600, height: 400 },
    });
    expect(contents.map((each) => each.equals(bytes))).toEqual([true, true]);
  });
});

describe('stored documents', () => {
  const SECRET = 'an-unlikely-word-in-a-scan';

  const readFilesIn = (folder: string): Buffer[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(path.join(each.parentPath, each.name)));

  it('are readable only with the keys', async () => {
    const holder = await harness.createPerson();
    const bytes = pngFile(40, 40, SECRET);
    const { id } = await harness.uploadDocument(passportFields(holder), {
      bytes,
      name: `${SECRET}.png`,
    });
    const [dump] = await app.runtime.db.query<{ text: string }>(
      `select (select json_agg(d)::text from documents d) || (select json_agg(f)::text from files f)
        || coalesce((select json_agg(e)::text from events e), '') as text`,
      [],
    );
    const storedContents = [Buffer.from(dump?.text as string), ...readFilesIn(app.filesFolder)];
    expect(storedContents.length).toBeGreaterThan(1);
    for (const each of storedContents) {
      for (const plainText of [SECRET, 'C01X00T47', 'Stadt K', 'tEXtComment']) {
        expect(each.includes(plainText), plainText).toBe(false);
      }
    }
    expect(app.log.join('')).not.toContain(SECRET);
    const row = await harness.readRow(id);
    const customer = await app.runtime.db.read(customers, holder);
    if (!customer) throw new Error('The customer was not found.');
    const content = await readAll(app.files.read(fileOf(app.runtime.vault, customer, row)));
    expect(content.equals(bytes)).toBe(true);
  });

  it('are deleted with the customer, including documents of its owners', async () => {
    const { company, owner } = await harness.createBusiness();
    const documents = [
      await harness.uploadDocument(billFields(company)),
      await harness.uploadDocument(passportFields(owner)),
    ];
    const otherDocument = await harness.uploadDocument(billFields(await harness.createPerson()));
    const fileIds = await Promise.all(
      documents.map(async ({ id }) => (await harness.readRow(id)).file_id),
    );
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, company);
      if (row) await eraseDocuments(ctx, row);
    });
    expect(await documentsOf(app.runtime, [company, owner])).toEqual([]);
    const states = await harness.readFileStates();
    for (const id of fileIds) expect(states.has(id)).toBe(false);
    expect(states.get((await harness.readRow(otherDocument.id)).file_id)).toBe('KEPT');
  });
});
