// Operations on documents for review. Each access to documents and their files is recorded.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { documentForm, pdfFile } from '../../../test/kit/http/documents.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
const bytes = pdfFile({ note: 'x'.repeat(200_000) });
let customerId: string;
let id: string;

beforeAll(async () => {
  customerId = (await createCustomer(app)).id;
  const fields = {
    ...{ documentHolder: customerId, documentType: 'PASSPORT', country: 'DE' },
    ...{ documentNumber: 'C01X00T47', issuingAuthority: 'Stadt Köln' },
  };
  const form = documentForm(fields, { bytes, name: 'pass.pdf' });
  id = ok(await app.call('POST', '/documents', form), 201).id;
});

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

it('documents are listed for a customer or one holder', async () => {
  const path = `/customers/${customerId}/documents`;
  const { id: platformId } = app.platform;
  for (const query of ['', `?holderId=${customerId}`]) {
    const list = ok(await client.call('GET', path + query), 200);
    const document = { id, customerId, documentNumber: 'C01X00T47', format: 'PDF' };
    expect(list).toMatchObject({ platformId, customerId, data: [document] });
  }
  expect(await client.recordsOf('listDocumentsForReview')).toMatchObject([
    { subject: customerId, platformId, customerId },
    { subject: customerId, platformId, customerId },
  ]);
  const emptyList = ok(await client.call('GET', `${path}?holderId=none`), 200);
  expect(emptyList.data).toEqual([]);
  const unknownReply = await client.call('GET', '/customers/none/documents');
  expect([unknownReply.status, unknownReply.body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
});

it('documents are returned with their original file', async () => {
  const reply = ok(await client.call('GET', `/documents/${id}/content`), 200);
  expect(Buffer.from(reply.content, 'base64').equals(bytes)).toBe(true);
  expect(await client.recordsOf('getDocumentContent')).toMatchObject([
    { subject: id, platformId: app.platform.id, customerId },
  ]);
  expect((await client.call('GET', '/documents/none/content')).status).toBe(404);
});

it('documents of other platforms are hidden', async () => {
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  for (const path of [`/customers/${customerId}/documents`, `/documents/${id}/content`]) {
    expect((await client.call('GET', path, { secret })).status).toBe(404);
  }
});
