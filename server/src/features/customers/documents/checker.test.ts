// What checks a document before it is taken, and what lies at rest of one that was: nothing that could be
// read without the keys, and nothing at all once its customer was forgotten.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { opened } from '../../../../test/kit/app/test-app.ts';
import {
  bill,
  type DocumentDesk,
  openDocumentDesk,
  passport,
  png,
  refusal,
} from '../../../../test/kit/customers/documents.ts';
import { jpegFile, pdfFile, pngFile } from '../../../../test/kit/http/documents.ts';
import type { DocumentCheck, DocumentVerdict } from '../../../connectors/ports/documents.ts';
import type { Connectors } from '../../../connectors/ports/index.ts';
import { REASON_BY_ENDING } from '../../../connectors/sandbox/identity/documents.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { customers } from '../records/store.ts';
import { eraseDocuments, fileOf } from './document.ts';
import { addDocument, documentsOf } from './index.ts';
import { documentInspector } from './inspect.ts';

const desk = opened(openDocumentDesk);
let app: DocumentDesk['app'];
beforeAll(async () => {
  app = desk.app;
});

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read);
}

describe('the check of a document', () => {
  it.each(Object.entries(REASON_BY_ENDING))('plays %s in the sandbox', async (code, reason) => {
    const holder = await desk.person();
    const answer = await desk.upload(bill(holder), png(`bill-${code}.png`));
    expect([...refusal(answer), answer.body.reason]).toEqual([400, code, reason]);
    expect(await documentsOf(app.runtime, [holder])).toEqual([]);
    await desk.uploaded(bill(holder), png(`${code}-bill.png`));
  });

  it('looks closer in production', async () => {
    const holder = await desk.person(app.production);
    const ask = async (bytes: Uint8Array) =>
      refusal(await desk.upload(bill(holder), { bytes }, app.production));
    expect(await ask(pngFile(299, 500))).toEqual([400, 'LOW_QUALITY']);
    expect(await ask(jpegFile().subarray(0, -300))).toEqual([400, 'INCOMPLETE']);
    const locked = pdfFile({ trailer: '/Encrypt 9 0 R' });
    expect(await ask(locked)).toEqual([400, 'UNSUITABLE_DOCUMENT']);
    await desk.uploaded(bill(holder), { bytes: jpegFile(), name: 'EXPIRED.jpg' }, app.production);
  });

  it('is whoever stands behind the port: it is shown everything, and its word counts', async () => {
    const holder = await desk.person();
    const bytes = jpegFile();
    const asked: DocumentCheck[] = [];
    const contents: Buffer[] = [];
    const add = async (verdict: DocumentVerdict) => {
      const caller = systemCaller(app.platform.id, 'production');
      const options = { maxBytes: 1_000_000, inspect: documentInspector, fileName: 'id.jpg' };
      const file = await app.files.put(caller, Readable.from([bytes]), options);
      const check = async (document: DocumentCheck) => {
        asked.push(document);
        contents.push(await all(document.content()));
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
    const refused = add({ state: 'refused', code: 'DATA_MISMATCH', reason: 'Another name.' });
    await expect(refused).rejects.toMatchObject({
      code: 'DATA_MISMATCH',
      message: 'Another name.',
    });
    expect(await documentsOf(app.runtime, [holder])).toEqual([]);
    const { row } = await add({ state: 'accepted' });
    expect(await documentsOf(app.runtime, [holder])).toEqual([row]);
    expect(asked[1]).toMatchObject({
      ...{ documentType: 'NATIONAL_ID', side: 'FRONT', country: 'DE', fileName: 'id.jpg' },
      ...{ documentNumber: 'L01X00T47', issuingAuthority: 'Stadt Köln' },
      findings: { format: 'JPEG', complete: true, width: 600, height: 400 },
    });
    expect(contents.map((each) => each.equals(bytes))).toEqual([true, true]);
  });
});

describe('what lies at rest', () => {
  const SECRET = 'an-unlikely-word-in-a-scan';

  const everyFileIn = (folder: string): Buffer[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(path.join(each.parentPath, each.name)));

  it('tells nothing without the keys, and everything with them', async () => {
    const holder = await desk.person();
    const bytes = pngFile(40, 40, SECRET);
    const { id } = await desk.uploaded(passport(holder), { bytes, name: `${SECRET}.png` });
    const [dump] = await app.runtime.db.query<{ text: string }>(
      `select (select json_agg(d)::text from documents d) || (select json_agg(f)::text from files f)
        || coalesce((select json_agg(e)::text from events e), '') as text`,
      [],
    );
    const lying = [Buffer.from(dump?.text as string), ...everyFileIn(app.filesFolder)];
    expect(lying.length).toBeGreaterThan(1);
    for (const each of lying) {
      for (const clear of [SECRET, 'C01X00T47', 'Stadt K', 'tEXtComment']) {
        expect(each.includes(clear), clear).toBe(false);
      }
    }
    expect(app.log.join('')).not.toContain(SECRET);
    const row = await desk.rowOf(id);
    const owner = await app.runtime.db.read(customers, holder);
    if (!owner) throw new Error('no such customer');
    const content = await all(app.files.read(fileOf(app.runtime.vault, owner, row)));
    expect(content.equals(bytes)).toBe(true);
  });

  it('is gone once a customer is forgotten, with what belongs to its owners', async () => {
    const { firm, owner } = await desk.business();
    const theirs = [await desk.uploaded(bill(firm)), await desk.uploaded(passport(owner))];
    const other = await desk.uploaded(bill(await desk.person()));
    const gone = await Promise.all(theirs.map(async ({ id }) => (await desk.rowOf(id)).file_id));
    await app.operate(async (ctx) => {
      const row = await ctx.read(customers, firm);
      if (row) await eraseDocuments(ctx, row);
    });
    expect(await documentsOf(app.runtime, [firm, owner])).toEqual([]);
    const states = await desk.fileStates();
    for (const id of gone) expect(states.has(id)).toBe(false);
    expect(states.get((await desk.rowOf(other.id)).file_id)).toBe('KEPT');
  });
});
