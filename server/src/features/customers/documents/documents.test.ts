// Documents over the API: accepted input, rejections, access by platform, and concurrent requests.
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { ApiResponse } from '../../../../test/kit/app/harness.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import {
  billFields,
  type DocumentHarness,
  errorFields,
  newPng,
  openDocumentHarness,
  passportFields,
  statusAndCode,
} from '../../../../test/kit/customers/documents.ts';
import { jpegFile, pdfFile } from '../../../../test/kit/http/documents.ts';
import { documentsOf, openDocument } from './index.ts';
import { documents } from './store.ts';

const harness = openForFile(openDocumentHarness);
let app: DocumentHarness['app'];
beforeAll(async () => {
  app = harness.app;
});

describe('getDocument', () => {
  it('returns the document without its file', async () => {
    const { id, ...fields } = await harness.uploadDocument(
      passportFields(await harness.createPerson()),
    );
    expect(ok(await app.call('GET', `/documents/${id}`), 200)).toEqual({ id, ...fields });
    expect(fields).not.toHaveProperty('file');
  });
});

describe('uploadDocument', () => {
  it('stores the file and returns the document', async () => {
    const holder = await harness.createPerson();
    const body = await harness.uploadDocument(passportFields(holder), {
      bytes: pdfFile(),
      name: 'Pass Ada.pdf',
    });
    const now = new Date(app.effects.now()).toISOString();
    expect(body).toEqual({
      id: expect.stringMatching(/^Document:/),
      documentHolder: holder,
      documentType: 'PASSPORT',
      country: 'DE',
      documentNumber: 'C01X00T47',
      issuingAuthority: 'Stadt Köln',
      fileName: 'Pass Ada.pdf',
      createdAt: now,
      updatedAt: now,
    });
    expect((await harness.readFileStates()).get((await harness.readRow(body.id)).file_id)).toBe(
      'KEPT',
    );
  });

  it('determines the format by the first bytes of the file', async () => {
    const holder = await harness.createPerson();
    const mislabeledFile = { bytes: jpegFile(1, 1), name: 'x.exe', type: 'text/html' };
    const { id } = await harness.uploadDocument(billFields(holder), mislabeledFile);
    expect((await harness.readRow(id)).format).toBe('JPEG');
    const executableFile = {
      bytes: Buffer.from('MZ...........'),
      name: 'x.pdf',
      type: 'application/pdf',
    };
    const response = await harness.upload(billFields(holder, 'OTHER'), executableFile);
    expect(statusAndCode(response)).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors).toEqual([
      {
        field: 'file',
        constraint: { enum: ['application/pdf', 'image/jpeg', 'image/png'] },
        message: 'must be one of PDF, JPEG, PNG',
      },
    ]);
  });

  it('rejects an empty file, a file above 10 MB and a missing file', async () => {
    const fields = billFields(await harness.createPerson());
    const emptyResponse = await harness.upload(fields, { bytes: Buffer.alloc(0) });
    expect([emptyResponse.status, ...errorFields(emptyResponse)]).toEqual([400, 'file']);
    expect(emptyResponse.body.details.errors[0].message).toBe('is empty');
    const oversizedContent = Buffer.alloc(10 * 1024 * 1024 + 1, 0x20);
    pdfFile().copy(oversizedContent);
    const oversizedResponse = await harness.upload(fields, { bytes: oversizedContent });
    expect([oversizedResponse.status, ...errorFields(oversizedResponse)]).toEqual([400, 'file']);
    const missingFileResponse = await harness.upload(fields, null);
    expect([missingFileResponse.status, ...errorFields(missingFileResponse)]).toEqual([
      400,
      'file',
    ]);
    expect(
      await app.runtime.db.find(documents, { holder_id: fields.documentHolder as string }),
    ).toEqual([]);
    await harness.uploadDocument(fields, { bytes: oversizedContent.subarray(0, -1) });
  });

  it('reports all errors together', async () => {
    const holder = await harness.createPerson();
    const fields = {
      documentHolder: holder,
      documentType: 'PASSPORT',
      side: 'BACK',
      country: 'UK',
    };
    const response = await harness.upload(fields, { bytes: Buffer.from('neither of these') });
    expect(statusAndCode(response)).toEqual([400, 'INVALID_INPUT']);
    const invalidFields = ['country', 'documentNumber', 'file', 'issuingAuthority', 'side'];
    expect(errorFields(response)).toEqual(invalidFields);
    expect(errorFields(await harness.upload({}, newPng()))).toEqual([
      'country',
      'documentHolder',
      'documentType',
    ]);
    expect(
      errorFields(await harness.upload({ ...billFields(holder, 'DIARY'), side: 'TOP' })),
    ).toEqual([...['documentType', 'side']]);
    const blankAuthority = { ...passportFields(holder), issuingAuthority: '  ' };
    expect(errorFields(await harness.upload(blankAuthority))).toEqual(['issuingAuthority']);
  });

  it('rejects holders of other platforms', async () => {
    const otherPerson = await harness.createPerson(app.other);
    const { owner } = await harness.createBusiness(app.other);
    const unknownId = otherPerson.replace(/[0-9a-f]{12}$/, '0123456789ab');
    const responses: ApiResponse[] = [];
    for (const holder of [otherPerson, owner, unknownId, app.platform.id, 'unknown']) {
      const response = await harness.upload(billFields(holder));
      expect(statusAndCode(response)).toEqual([404, 'DOCUMENT_HOLDER_NOT_FOUND']);
      responses.push(response);
    }
    for (const { body } of responses) expect(body).toEqual(responses[0]?.body);
    const states = await harness.readFileStates();
    expect([...states.values()].filter((state) => state === 'UPLOADING')).toEqual([]);
  });

  it('rejects a deleted customer', async () => {
    const holder = await harness.createPerson();
    const { id } = await harness.uploadDocument(billFields(holder));
    ok(await app.call('DELETE', `/customers/${holder}`), 200);
    expect(statusAndCode(await harness.upload(passportFields(holder)))).toEqual([
      410,
      'CUSTOMER_DELETED',
    ]);
    expect(statusAndCode(await harness.replace(id, billFields(undefined)))).toEqual([
      410,
      'CUSTOMER_DELETED',
    ]);
    expect((await app.call('GET', `/documents/${id}`)).status).toBe(200);
    expect((await app.call('DELETE', `/documents/${id}`)).status).toBe(204);
  });

  it('accepts one document per holder, type and side', async () => {
    const { company, owner } = await harness.createBusiness();
    await harness.uploadDocument(passportFields(company));
    expect(statusAndCode(await harness.upload(passportFields(company)))).toEqual([
      409,
      'DOCUMENT_ALREADY_EXISTS',
    ]);
    await harness.uploadDocument(passportFields(owner));
    const license = { ...passportFields(owner), documentType: 'DRIVERS_LICENSE' };
    for (const side of ['FRONT', 'BACK', undefined]) {
      await harness.uploadDocument({ ...license, side });
      expect(statusAndCode(await harness.upload({ ...license, side }))).toEqual([
        409,
        'DOCUMENT_ALREADY_EXISTS',
      ]);
    }
  });

  it('accepts one of several concurrent uploads and keeps only its file', async () => {
    const holder = await harness.createPerson();
    const fields = billFields(holder);
    const responses = await Promise.all(Array.from({ length: 6 }, () => harness.upload(fields)));
    expect(responses.map((each) => each.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const conflicts = responses.filter((each) => each.status === 409);
    for (const each of conflicts) expect(each.body.code).toBe('DOCUMENT_ALREADY_EXISTS');
    const rows = await documentsOf(app.runtime, [holder]);
    expect(rows).toHaveLength(1);
    const states = await harness.readFileStates();
    expect(states.get(rows[0]?.file_id as string)).toBe('KEPT');
    const otherFiles = await app.runtime.db.query<{ id: string }>(
      `select f.id from files f where state <> 'GONE'
        and not exists (select 1 from documents d where d.file_id = f.id)`,
      [],
    );
    expect(otherFiles).toEqual([]);
  });

  it('replays the reply for a repeated idempotency key, and stores it encrypted', async () => {
    const fields = passportFields(await harness.createPerson());
    const key = { 'idempotency-key': 'a-passport' };
    const firstResponse = await harness.upload(fields, newPng(), app.platform, key);
    const secondResponse = await harness.upload(fields, newPng(), app.platform, key);
    expect([firstResponse.status, secondResponse.status]).toEqual([201, 201]);
    expect(secondResponse.body).toEqual(firstResponse.body);
    const storedRows = await app.runtime.db.query<{ reply: string }>(
      'select reply from idempotency where reply like $1',
      ['%C01X00T47%'],
    );
    expect(storedRows).toEqual([]);
  });
});

describe('listDocuments', () => {
  it('pages documents of the platform or of one holder, newest first', async () => {
    const { company, owner } = await harness.createBusiness();
    const ids: string[] = [];
    for (const type of ['TAX_RETURN', 'BANK_STATEMENT', 'SELFIE']) {
      app.effects.set(app.effects.now() + 1_000);
      ids.unshift((await harness.uploadDocument(billFields(owner, type))).id);
    }
    const list = (query: string, platform = app.platform) =>
      app.call('GET', `/documents?${query}`, undefined, { platform });
    const idsOf = (response: ApiResponse) =>
      response.body.data.map((each: { id: string }) => each.id);
    const firstResponse = await list(`documentHolder=${owner}&limit=2`);
    expect(idsOf(firstResponse)).toEqual(ids.slice(0, 2));
    expect(firstResponse.body).toMatchObject({ hasMore: true, totalCount: 3 });
    const secondResponse = await list(
      `documentHolder=${owner}&cursor=${firstResponse.body.nextCursor}`,
    );
    expect([idsOf(secondResponse), secondResponse.body.hasMore]).toEqual([ids.slice(2), false]);
    expect(idsOf(await list('limit=3'))).toEqual(ids);
    expect(idsOf(await list(`documentHolder=${company}`))).toEqual([]);
    expect(idsOf(await list(`documentHolder=${owner}`, app.other))).toEqual([]);
    for (const query of ['documentHolder=unknown', 'cursor=x', 'limit=0']) {
      const response = await list(query);
      expect([response.status, ...errorFields(response)]).toEqual([400, query.split('=')[0]]);
    }
  });
});

describe('replaceDocument', () => {
  it('replaces the file and all data of the document', async () => {
    const holder = await harness.createPerson();
    const previousDocument = await harness.uploadDocument(passportFields(holder));
    const rowBefore = await harness.readRow(previousDocument.id);
    app.effects.set(app.effects.now() + 60_000);
    const body = ok(
      await harness.replace(previousDocument.id, billFields(undefined), newPng('new.png')),
      200,
    );
    expect(body).toEqual({
      id: previousDocument.id,
      documentHolder: holder,
      documentType: 'UTILITY_BILL',
      country: 'DE',
      fileName: 'new.png',
      createdAt: previousDocument.createdAt,
      updatedAt: new Date(app.effects.now()).toISOString(),
    });
    expect(ok(await app.call('GET', `/documents/${previousDocument.id}`), 200)).toEqual(body);
    const states = await harness.readFileStates();
    expect(states.has(rowBefore.file_id)).toBe(false);
    expect(states.get((await harness.readRow(previousDocument.id)).file_id)).toBe('KEPT');
    await harness.uploadDocument(passportFields(holder)); // The type is available again.
  });

  it('validates the new document by the same rules', async () => {
    const { id } = await harness.uploadDocument(passportFields(await harness.createPerson()));
    const response = await harness.replace(
      id,
      { documentType: 'NATIONAL_ID', country: 'XX' },
      null,
    );
    expect(errorFields(response)).toEqual([
      'country',
      'documentNumber',
      'file',
      'issuingAuthority',
    ]);
    const rejectedResponse = await harness.replace(
      id,
      passportFields(undefined),
      newPng('x-SUSPECTED_FRAUD.png'),
    );
    expect(statusAndCode(rejectedResponse)).toEqual([400, 'SUSPECTED_FRAUD']);
    expect((await harness.readFileStates()).get((await harness.readRow(id)).file_id)).toBe('KEPT');
  });

  it('rejects a type that another document of the holder has', async () => {
    const holder = await harness.createPerson();
    await harness.uploadDocument(passportFields(holder));
    const { id } = await harness.uploadDocument(billFields(holder));
    const response = await harness.replace(id, passportFields(undefined));
    expect(statusAndCode(response)).toEqual([409, 'DOCUMENT_ALREADY_EXISTS']);
    ok(await harness.replace(id, billFields(undefined)), 200);
    const otherDocument = await harness.uploadDocument(billFields(holder, 'OTHER'));
    const replacements = [id, otherDocument.id].map((each) =>
      harness.replace(each, billFields(undefined, 'SELFIE')),
    );
    const responses = await Promise.all(replacements);
    expect(responses.map((each) => each.status).sort()).toEqual([200, 409]);
  });

  it('rejects the replacement of a document of a final verification', async () => {
    const holder = await harness.createPerson();
    await harness.setStatus(holder, 'PENDING');
    const { id } = await harness.uploadDocument(billFields(holder));
    await harness.markAsSubmitted(id);
    ok(await harness.replace(id, billFields(undefined)), 200);
    await harness.setStatus(holder, 'APPROVED');
    const response = await harness.replace(id, billFields(undefined));
    expect(statusAndCode(response)).toEqual([400, 'INVALID_INPUT']);
  });

  it('returns 404 for a document of another platform', async () => {
    const { id } = await harness.uploadDocument(billFields(await harness.createPerson()));
    const otherResponse = await harness.replace(id, billFields(undefined), newPng(), app.other);
    const unknownResponse = await harness.replace(
      'unknown',
      billFields(undefined),
      newPng(),
      app.other,
    );
    expect(statusAndCode(otherResponse)).toEqual([404, 'NOT_FOUND']);
    expect(otherResponse.body).toEqual(unknownResponse.body);
    expect((await app.call('GET', `/documents/${id}`)).body.updatedAt).toBeDefined();
  });
});

describe('deleteDocument', () => {
  it('deletes the document and its file', async () => {
    const { id } = await harness.uploadDocument(billFields(await harness.createPerson()));
    const { file_id } = await harness.readRow(id);
    expect(
      (await app.call('DELETE', `/documents/${id}`, undefined, { platform: app.other })).status,
    ).toBe(404);
    expect((await app.call('DELETE', `/documents/${id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expect(statusAndCode(await app.call(method, `/documents/${id}`))).toEqual([404, 'NOT_FOUND']);
    }
    expect((await harness.readFileStates()).has(file_id)).toBe(false);
  });

  it('stops a download by a reviewer with NOT_FOUND', async () => {
    const { id } = await harness.uploadDocument(billFields(await harness.createPerson()));
    const { content } = await openDocument(app, id);
    expect((await app.call('DELETE', `/documents/${id}`)).status).toBe(204);
    await app.settle();
    await expect(buffer(content)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('rejects the deletion of a submitted document, even after a replacement', async () => {
    const holder = await harness.createPerson();
    await harness.setStatus(holder, 'PENDING');
    const { id } = await harness.uploadDocument(billFields(holder));
    await harness.markAsSubmitted(id);
    expect(statusAndCode(await app.call('DELETE', `/documents/${id}`))).toEqual([409, 'CONFLICT']);
    ok(await harness.replace(id, billFields(undefined)), 200);
    expect(statusAndCode(await app.call('DELETE', `/documents/${id}`))).toEqual([409, 'CONFLICT']);
  });
});
