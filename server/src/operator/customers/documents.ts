// `documents list|save`: what was handed in about a customer, for the person who reviews it. The API never
// gives a file back; here one is opened and written to a file of the reviewer's, that nobody else may read.

import { listDocumentsByHand, openDocument } from '../../features/customers/documents/index.ts';
import { type Given, usageError } from '../cli/flags.ts';
import { writeNew } from '../cli/new-file.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

function ofWhom(given: Given): { customerId: string } | { holderId: string } {
  const [customerId, holderId] = [given.text('customer'), given.text('holder')];
  if (customerId !== undefined && holderId === undefined) return { customerId };
  if (customerId === undefined && holderId !== undefined) return { holderId };
  throw usageError('One of --customer and --holder is needed.');
}

const HEADS = ['DOCUMENT', 'HOLDER', 'TYPE', 'SIDE', 'COUNTRY', 'NUMBER', 'FILE', 'SUBMITTED'];

async function list({ runtime }: System, given: Given): Promise<Output> {
  const json = await listDocumentsByHand(runtime, ofWhom(given));
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
  const { document, content } = await openDocument(system, given.needed('document'));
  const to = given.needed('to');
  await writeNew(to, content);
  const json = { ...document, savedTo: to };
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
