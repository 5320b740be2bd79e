// Uploads of every kind of content to a test server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { createCustomer } from '../../../server/test/kit/app/fixtures.ts';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { pdfFile } from '../../../server/test/kit/http/documents.ts';
import type { FileInput } from '../src/index.ts';
import { fileStream } from '../src/node.ts';
import { clientOf } from './kit/clients.ts';

const app = testApp();
const folder = mkdtempSync(path.join(os.tmpdir(), 'sdk-uploads-'));
const PASSPORT = {
  documentType: 'PASSPORT',
  country: 'US',
  documentNumber: '340020013',
  issuingAuthority: 'U.S. Department of State',
} as const;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytes = new Uint8Array(pdfFile());
const file = path.join(folder, 'passport.pdf');
writeFileSync(file, bytes);

async function* chunks() {
  yield new Uint8Array(bytes.subarray(0, 20));
  yield new Uint8Array(bytes.subarray(20));
}

const NAMED_FILE = { name: 'passport.pdf', type: 'application/pdf' };

const contents: Record<string, () => FileInput> = {
  'a buffer': () => ({ content: bytes, ...NAMED_FILE }),
  'a file': () => new File([bytes], NAMED_FILE.name, NAMED_FILE),
  'a blob': () => ({
    content: new Blob([bytes], { type: NAMED_FILE.type }),
    name: NAMED_FILE.name,
  }),
  'a generator': () => ({ content: chunks(), ...NAMED_FILE }),
  'a stream of Node.js': () => ({ content: Readable.from(chunks()), ...NAMED_FILE }),
  'a web stream': () => ({ content: new Blob([bytes]).stream(), ...NAMED_FILE }),
  'a path': () => fileStream(file, NAMED_FILE.type),
};

describe('a document', () => {
  it.each(Object.keys(contents))('is uploaded from %s', async (kind) => {
    const client = await clientOf(app);
    const { id: documentHolder } = await createCustomer(app);
    const document = await client.documents.uploadDocument({
      documentHolder,
      ...PASSPORT,
      file: contents[kind]?.() as FileInput,
    });
    expect(document).toMatchObject({ documentHolder, fileName: 'passport.pdf' });
  });

  it('is stored once if its upload is repeated with the same key', async () => {
    const client = await clientOf(app);
    const { id: documentHolder } = await createCustomer(app);
    const upload = () =>
      client.documents.uploadDocument(
        {
          documentHolder,
          ...PASSPORT,
          file: contents['a file']?.() as FileInput,
        },
        { idempotencyKey: `upload of ${documentHolder}` },
      );
    const [firstUpload, secondUpload] = [await upload(), await upload()];
    expect(secondUpload).toEqual(firstUpload);
  });
});

describe('a file of customers', () => {
  it('can be sent from a stream, and its job can be read', async () => {
    const client = await clientOf(app);
    const text = 'platformCustomerId,customerType,fullName\nrow-1,INDIVIDUAL,Ada Lovelace\n';
    const { jobId } = await client.customers.uploadCustomersCsv({
      file: { content: Readable.from([text]), name: 'customers.csv', type: 'text/csv' },
    });
    await app.settle();
    const job = await client.customers.getBulkCustomerImportJob({ jobId });
    expect(job.progress).toMatchObject({ total: 1 });
  });
});
