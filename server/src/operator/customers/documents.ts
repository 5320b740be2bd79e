// `documents list|save`: what was handed in about a customer, for the person who reviews it. The API never
// gives a file back; here one is opened and written to a file of the reviewer's, that nobody else may read.

import {
  type DocumentRow,
  documents,
  fileOf,
  presentDocument,
} from '../../features/customers/documents/index.ts';
import { customers } from '../../features/customers/records/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import { ALL_OF_ONE } from '../../runtime/db/database.ts';
import { type Given, usageError } from '../cli/flags.ts';
import { writeNew } from '../cli/new-file.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';

async function customerOf({ runtime }: System, row: DocumentRow) {
  const customer = await runtime.db.read(customers, row.customer_id);
  if (!customer) throw notFound('customer');
  return customer;
}

async function viewOf(system: System, row: DocumentRow) {
  const customer = await customerOf(system, row);
  return {
    ...presentDocument(system.runtime.vault, customer, row),
    customerId: row.customer_id,
    format: row.format,
    submittedAt: row.submitted_at === null ? null : iso(row.submitted_at),
  };
}

function wanted(given: Given): Partial<DocumentRow> {
  const [customer, holder] = [given.text('customer'), given.text('holder')];
  if ((customer === undefined) === (holder === undefined)) {
    throw usageError('One of --customer and --holder is needed.');
  }
  return customer === undefined ? { holder_id: holder as string } : { customer_id: customer };
}

const HEADS = ['DOCUMENT', 'HOLDER', 'TYPE', 'SIDE', 'COUNTRY', 'NUMBER', 'FILE', 'SUBMITTED'];

async function list(system: System, given: Given): Promise<Output> {
  const rows = await system.runtime.db.find(documents, wanted(given), {
    orderBy: 'created_at',
    ...ALL_OF_ONE,
  });
  const json = await Promise.all(rows.map((row) => viewOf(system, row)));
  const lines = json.map((each) => [
    each.id,
    each.documentHolder,
    each.documentType,
    each.side ?? '',
    each.country,
    each.documentNumber ?? '',
    each.fileName,
    each.submittedAt ?? '',
  ]);
  const heads = HEADS.map((head) => ({ head }));
  return { json, text: table(heads, lines) };
}

async function save(system: System, given: Given): Promise<Output> {
  const { db, vault } = system.runtime;
  const id = given.needed('document');
  const row = isId(id, 'Document') ? await db.read(documents, id) : undefined;
  if (!row) throw notFound('document');
  const file = fileOf(vault, await customerOf(system, row), row);
  const to = given.needed('to');
  await writeNew(to, system.files.read(file));
  const json = { ...(await viewOf(system, row)), savedTo: to };
  const text = record([
    ['Document', json.id],
    ['Type', json.documentType],
    ['Format', json.format],
    ['Saved to', to],
  ]);
  return { json, text };
}

export const documentVerbs: readonly Verb[] = [
  {
    noun: 'documents',
    verb: 'list',
    summary: 'List what was handed in about a customer or one beneficial owner, oldest first',
    flags: {
      customer: { value: 'CUSTOMER', help: 'Of this customer, and of those who own it' },
      holder: { value: 'HOLDER', help: 'Of this customer or beneficial owner alone' },
    },
    bare: 'customer',
    run: list,
  },
  {
    noun: 'documents',
    verb: 'save',
    summary: 'Write the file of a document to a new file, for review',
    flags: {
      document: { value: 'DOCUMENT', required: true, help: 'Id of the document' },
      to: { value: 'FILE', required: true, help: 'Where to; a file that is there is left alone' },
    },
    bare: 'document',
    run: save,
  },
];
