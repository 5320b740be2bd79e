// Documents over the API: what is taken, every refusal, whose they are, and two at once.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import type { Answer } from '../../../../test/kit/app/harness.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import {
  bad,
  bill,
  type DocumentDesk,
  openDocumentDesk,
  passport,
  png,
  refusal,
} from '../../../../test/kit/customers/documents.ts';
import { jpegFile, pdfFile } from '../../../../test/kit/http/documents.ts';
import { documentsOf } from './index.ts';
import { documents } from './store.ts';

const desk = opened(openDocumentDesk);
let app: DocumentDesk['app'];
beforeAll(async () => {
  app = desk.app;
});

describe('uploadDocument', () => {
  describe('getDocument', () => {
    it('answers the document, without its file', async () => {
      const holder = await desk.person();
      const body = await desk.uploaded(passport(holder), {
        bytes: pdfFile(),
        name: 'Pass Ada.pdf',
      });
      const at = new Date(app.world.now()).toISOString();
      expect(body).toEqual({
        id: expect.stringMatching(/^Document:/),
        documentHolder: holder,
        documentType: 'PASSPORT',
        country: 'DE',
        documentNumber: 'C01X00T47',
        issuingAuthority: 'Stadt Köln',
        fileName: 'Pass Ada.pdf',
        createdAt: at,
        updatedAt: at,
      });
      expect(ok(await app.call('GET', `/documents/${body.id}`), 200)).toEqual(body);
      expect((await desk.fileStates()).get((await desk.rowOf(body.id)).file_id)).toBe('KEPT');
    });
  });

  it('goes by the first bytes, whatever name and type the client gives', async () => {
    const holder = await desk.person();
    const lie = { bytes: jpegFile(1, 1), name: 'x.exe', type: 'text/html' };
    const { id } = await desk.uploaded(bill(holder), lie);
    expect((await desk.rowOf(id)).format).toBe('JPEG');
    const exe = { bytes: Buffer.from('MZ...........'), name: 'x.pdf', type: 'application/pdf' };
    const answer = await desk.upload(bill(holder, 'OTHER'), exe);
    expect(refusal(answer)).toEqual([400, 'INVALID_INPUT']);
    expect(answer.body.details.errors).toEqual([
      {
        field: 'file',
        constraint: { enum: ['application/pdf', 'image/jpeg', 'image/png'] },
        message: 'is none of PDF, JPEG, PNG',
      },
    ]);
  });

  it('refuses an empty file, one above 10 MB, and none', async () => {
    const fields = bill(await desk.person());
    const empty = await desk.upload(fields, { bytes: Buffer.alloc(0) });
    expect([empty.status, ...bad(empty)]).toEqual([400, 'file']);
    expect(empty.body.details.errors[0].message).toBe('is empty');
    const most = Buffer.alloc(10 * 1024 * 1024 + 1, 0x20);
    pdfFile().copy(most);
    const large = await desk.upload(fields, { bytes: most });
    expect([large.status, ...bad(large)]).toEqual([400, 'file']);
    const none = await desk.upload(fields, null);
    expect([none.status, ...bad(none)]).toEqual([400, 'file']);
    expect(
      await app.runtime.db.find(documents, { holder_id: fields.documentHolder as string }),
    ).toEqual([]);
    await desk.uploaded(fields, { bytes: most.subarray(0, -1) });
  });

  it('names everything that is wrong at once', async () => {
    const holder = await desk.person();
    const fields = {
      documentHolder: holder,
      documentType: 'PASSPORT',
      side: 'BACK',
      country: 'UK',
    };
    const answer = await desk.upload(fields, { bytes: Buffer.from('neither of these') });
    expect(refusal(answer)).toEqual([400, 'INVALID_INPUT']);
    const wrong = ['country', 'documentNumber', 'file', 'issuingAuthority', 'side'];
    expect(bad(answer)).toEqual(wrong);
    expect(bad(await desk.upload({}, png()))).toEqual([
      'country',
      'documentHolder',
      'documentType',
    ]);
    expect(bad(await desk.upload({ ...bill(holder, 'DIARY'), side: 'TOP' }))).toEqual([
      ...['documentType', 'side'],
    ]);
    const blank = { ...passport(holder), issuingAuthority: '  ' };
    expect(bad(await desk.upload(blank))).toEqual(['issuingAuthority']);
  });

  it('wants a holder that is the calling platform’s', async () => {
    const theirs = await desk.person(app.other);
    const { owner } = await desk.business(app.other);
    const unknown = theirs.replace(/[0-9a-f]{12}$/, '0123456789ab');
    const answers: Answer[] = [];
    for (const holder of [theirs, owner, unknown, app.platform.id, 'nobody']) {
      const answer = await desk.upload(bill(holder));
      expect(refusal(answer)).toEqual([404, 'DOCUMENT_HOLDER_NOT_FOUND']);
      answers.push(answer);
    }
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    const states = await desk.fileStates();
    expect([...states.values()].filter((state) => state === 'UPLOADING')).toEqual([]);
  });

  it('refuses a customer who was deleted', async () => {
    const holder = await desk.person();
    const { id } = await desk.uploaded(bill(holder));
    ok(await app.call('DELETE', `/customers/${holder}`), 200);
    expect(refusal(await desk.upload(passport(holder)))).toEqual([410, 'CUSTOMER_DELETED']);
    expect(refusal(await desk.replace(id, bill(undefined)))).toEqual([410, 'CUSTOMER_DELETED']);
    expect((await app.call('GET', `/documents/${id}`)).status).toBe(200);
    expect((await app.call('DELETE', `/documents/${id}`)).status).toBe(204);
  });

  it('takes one of a kind for each holder, and each side of what has two', async () => {
    const { firm, owner } = await desk.business();
    await desk.uploaded(passport(firm));
    expect(refusal(await desk.upload(passport(firm)))).toEqual([409, 'DOCUMENT_ALREADY_EXISTS']);
    await desk.uploaded(passport(owner));
    const licence = { ...passport(owner), documentType: 'DRIVERS_LICENSE' };
    for (const side of ['FRONT', 'BACK', undefined]) {
      await desk.uploaded({ ...licence, side });
      expect(refusal(await desk.upload({ ...licence, side }))).toEqual([
        409,
        'DOCUMENT_ALREADY_EXISTS',
      ]);
    }
  });

  it('takes one of several that come at the same moment, and keeps no other file', async () => {
    const holder = await desk.person();
    const fields = bill(holder);
    const answers = await Promise.all(Array.from({ length: 6 }, () => desk.upload(fields)));
    expect(answers.map((each) => each.status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const lost = answers.filter((each) => each.status === 409);
    for (const each of lost) expect(each.body.code).toBe('DOCUMENT_ALREADY_EXISTS');
    const rows = await documentsOf(app.runtime, [holder]);
    expect(rows).toHaveLength(1);
    const states = await desk.fileStates();
    expect(states.get(rows[0]?.file_id as string)).toBe('KEPT');
    const others = await app.runtime.db.query<{ id: string }>(
      `select f.id from files f where state <> 'GONE'
        and not exists (select 1 from documents d where d.file_id = f.id)`,
      [],
    );
    expect(others).toEqual([]);
  });

  it('answers the same again under one key, and keeps one file', async () => {
    const fields = passport(await desk.person());
    const key = { 'idempotency-key': 'a-passport' };
    const first = await desk.upload(fields, png(), app.platform, key);
    const second = await desk.upload(fields, png(), app.platform, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    const stored = await app.runtime.db.query<{ reply: string }>(
      'select reply from idempotency where reply like $1',
      ['%C01X00T47%'],
    );
    expect(stored).toEqual([]);
  });
});

describe('listDocuments', () => {
  it('goes through pages, newest first, of the platform or of one holder', async () => {
    const { firm, owner } = await desk.business();
    const ids: string[] = [];
    for (const type of ['TAX_RETURN', 'BANK_STATEMENT', 'SELFIE']) {
      app.world.set(app.world.now() + 1_000);
      ids.unshift((await desk.uploaded(bill(owner, type))).id);
    }
    const list = (query: string, as = app.platform) =>
      app.call('GET', `/documents?${query}`, undefined, { as });
    const idsOf = (answer: Answer) => answer.body.data.map((each: { id: string }) => each.id);
    const first = await list(`documentHolder=${owner}&limit=2`);
    expect(idsOf(first)).toEqual(ids.slice(0, 2));
    expect(first.body).toMatchObject({ hasMore: true, totalCount: 3 });
    const rest = await list(`documentHolder=${owner}&cursor=${first.body.nextCursor}`);
    expect([idsOf(rest), rest.body.hasMore]).toEqual([ids.slice(2), false]);
    expect(idsOf(await list('limit=3'))).toEqual(ids);
    expect(idsOf(await list(`documentHolder=${firm}`))).toEqual([]);
    expect(idsOf(await list(`documentHolder=${owner}`, app.other))).toEqual([]);
    for (const query of ['documentHolder=nobody', 'cursor=x', 'limit=0']) {
      const answer = await list(query);
      expect([answer.status, ...bad(answer)]).toEqual([400, query.split('=')[0]]);
    }
  });
});

describe('replaceDocument', () => {
  it('puts a file and all that is said in the place of another', async () => {
    const holder = await desk.person();
    const was = await desk.uploaded(passport(holder));
    const before = await desk.rowOf(was.id);
    app.world.set(app.world.now() + 60_000);
    const body = ok(await desk.replace(was.id, bill(undefined), png('new.png')), 200);
    expect(body).toEqual({
      id: was.id,
      documentHolder: holder,
      documentType: 'UTILITY_BILL',
      country: 'DE',
      fileName: 'new.png',
      createdAt: was.createdAt,
      updatedAt: new Date(app.world.now()).toISOString(),
    });
    expect(ok(await app.call('GET', `/documents/${was.id}`), 200)).toEqual(body);
    const states = await desk.fileStates();
    expect(states.has(before.file_id)).toBe(false);
    expect(states.get((await desk.rowOf(was.id)).file_id)).toBe('KEPT');
    await desk.uploaded(passport(holder)); // the kind is free again
  });

  it('asks the same of the new one', async () => {
    const { id } = await desk.uploaded(passport(await desk.person()));
    const answer = await desk.replace(id, { documentType: 'NATIONAL_ID', country: 'XX' }, null);
    expect(bad(answer)).toEqual(['country', 'documentNumber', 'file', 'issuingAuthority']);
    const refused = await desk.replace(id, passport(undefined), png('x-SUSPECTED_FRAUD.png'));
    expect(refusal(refused)).toEqual([400, 'SUSPECTED_FRAUD']);
    expect((await desk.fileStates()).get((await desk.rowOf(id)).file_id)).toBe('KEPT');
  });

  it('collides with another document of the holder, but not with itself', async () => {
    const holder = await desk.person();
    await desk.uploaded(passport(holder));
    const { id } = await desk.uploaded(bill(holder));
    const answer = await desk.replace(id, passport(undefined));
    expect(refusal(answer)).toEqual([409, 'DOCUMENT_ALREADY_EXISTS']);
    ok(await desk.replace(id, bill(undefined)), 200);
    const other = await desk.uploaded(bill(holder, 'OTHER'));
    const selfies = [id, other.id].map((each) => desk.replace(each, bill(undefined, 'SELFIE')));
    const both = await Promise.all(selfies);
    expect(both.map((each) => each.status).sort()).toEqual([200, 409]);
  });

  it('leaves as it is what a check was decided on', async () => {
    const holder = await desk.person();
    await desk.setStatus(holder, 'PENDING');
    const { id } = await desk.uploaded(bill(holder));
    await desk.submit(id);
    ok(await desk.replace(id, bill(undefined)), 200);
    await desk.setStatus(holder, 'APPROVED');
    const answer = await desk.replace(id, bill(undefined));
    expect(refusal(answer)).toEqual([400, 'INVALID_INPUT']);
  });

  it('is not for another platform', async () => {
    const { id } = await desk.uploaded(bill(await desk.person()));
    const theirs = await desk.replace(id, bill(undefined), png(), app.other);
    const unknown = await desk.replace('nobody', bill(undefined), png(), app.other);
    expect(refusal(theirs)).toEqual([404, 'NOT_FOUND']);
    expect(theirs.body).toEqual(unknown.body);
    expect((await app.call('GET', `/documents/${id}`)).body.updatedAt).toBeDefined();
  });
});

describe('deleteDocument', () => {
  it('removes the document and its file', async () => {
    const { id } = await desk.uploaded(bill(await desk.person()));
    const { file_id } = await desk.rowOf(id);
    expect(
      (await app.call('DELETE', `/documents/${id}`, undefined, { as: app.other })).status,
    ).toBe(404);
    expect((await app.call('DELETE', `/documents/${id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expect(refusal(await app.call(method, `/documents/${id}`))).toEqual([404, 'NOT_FOUND']);
    }
    expect((await desk.fileStates()).has(file_id)).toBe(false);
  });

  it('is refused once the document was part of a check, also after it was replaced', async () => {
    const holder = await desk.person();
    await desk.setStatus(holder, 'PENDING');
    const { id } = await desk.uploaded(bill(holder));
    await desk.submit(id);
    expect(refusal(await app.call('DELETE', `/documents/${id}`))).toEqual([409, 'CONFLICT']);
    ok(await desk.replace(id, bill(undefined)), 200);
    expect(refusal(await app.call('DELETE', `/documents/${id}`))).toEqual([409, 'CONFLICT']);
  });
});
