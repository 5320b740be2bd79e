// The operator's verbs on documents: the list for a reviewer, and saved files. A saved file equals
// the submitted file and never replaces an existing file.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { documentForm, pdfFile } from '../../../test/kit/http/documents.ts';
import { type Flags, parse } from '../cli/flags.ts';
import type { System } from '../cli/verb.ts';
import { documentVerbs } from './documents.ts';

const app = testApp();
const folder = mkdtempSync(path.join(os.tmpdir(), 'documents-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

async function run(verb: string, ...argv: string[]) {
  const command = documentVerbs.find((each) => each.verb === verb);
  if (!command) throw new Error(`no verb ${verb}`);
  const { args } = parse(command.flags as Flags, command.positional, argv);
  const { runtime, files } = app;
  return command.run({ runtime, files } as unknown as System, args);
}

async function upload(documentHolder: string, bytes: Buffer): Promise<string> {
  const fields = {
    ...{ documentHolder, documentType: 'PASSPORT', country: 'DE' },
    ...{ documentNumber: 'C01X00T47', issuingAuthority: 'Stadt Köln' },
  };
  const form = documentForm(fields, { bytes, name: 'pass.pdf' });
  return ok(await app.call('POST', '/documents', form), 201).id;
}

describe('documents list', () => {
  it('lists the documents of a customer', async () => {
    const person = await createCustomer(app);
    const id = await upload(person.id, pdfFile());
    for (const argv of [[person.id], ['--customer', person.id], ['--holder', person.id]]) {
      const { json, text } = await run('list', ...argv);
      expect(json).toMatchObject([
        {
          ...{ id, documentHolder: person.id, customerId: person.id, documentType: 'PASSPORT' },
          ...{ documentNumber: 'C01X00T47', fileName: 'pass.pdf', submittedAt: null },
        },
      ]);
      expect(text).toContain('C01X00T47');
    }
    expect((await run('list', (await createCustomer(app)).id)).json).toEqual([]);
  });

  it('requires exactly one filter', async () => {
    await expect(run('list')).rejects.toThrow('Exactly one of --customer and --holder');
    const bothFlags = ['--customer', 'a', '--holder', 'b'];
    await expect(run('list', ...bothFlags)).rejects.toThrow(
      'Exactly one of --customer and --holder',
    );
  });
});

describe('documents save', () => {
  it('writes the original file, for its owner only', async () => {
    const bytes = pdfFile({ note: 'x'.repeat(200_000) });
    const id = await upload((await createCustomer(app)).id, bytes);
    const savedFile = path.join(folder, 'pass.pdf');
    const { json } = await run('save', id, '--to', savedFile);
    expect(json).toMatchObject({ id, format: 'PDF', savedTo: savedFile });
    expect(readFileSync(savedFile).equals(bytes)).toBe(true);
    expect(statSync(savedFile).mode & 0o777).toBe(0o600);
  });

  it('overwrites no file', async () => {
    const id = await upload((await createCustomer(app)).id, pdfFile());
    const savedFile = path.join(folder, 'there.pdf');
    writeFileSync(savedFile, 'existing content');
    await expect(run('save', id, '--to', savedFile)).rejects.toThrow('EEXIST');
    expect(readFileSync(savedFile, 'utf8')).toBe('existing content');
  });

  it('leaves no file if the content cannot be opened', async () => {
    const id = await upload((await createCustomer(app)).id, pdfFile());
    await app.runtime.db.query(
      `update documents set file_id = (select file_id from documents where id <> $1 limit 1)
        where id = $1`,
      [id],
    );
    const savedFile = path.join(folder, 'swapped.pdf');
    await expect(run('save', id, '--to', savedFile)).rejects.toThrow();
    expect(existsSync(savedFile)).toBe(false);
  });

  it('rejects an unknown document', async () => {
    const savedFile = path.join(folder, 'none.pdf');
    for (const id of ['unknown', 'Document:0190a000-0000-7000-8000-0123456789ab']) {
      await expect(run('save', id, '--to', savedFile)).rejects.toThrow('Document not found.');
    }
    expect(existsSync(savedFile)).toBe(false);
  });
});
