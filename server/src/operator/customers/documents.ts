// `documents list|save`: documents submitted about a customer, for the reviewer. The platform API
// never returns a file. `save` decrypts it into a new file that only the reviewer may read.

import { listDocumentsForReview, openDocument } from '../../features/customers/documents/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { writeNew } from '../cli/new-file.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

function holderArgument(args: CommandArgs): { customerId: string } | { holderId: string } {
  const [customerId, holderId] = [args.text('customer'), args.text('holder')];
  if (customerId !== undefined && holderId === undefined) return { customerId };
  if (customerId === undefined && holderId !== undefined) return { holderId };
  throw usageError('Exactly one of --customer and --holder is required');
}

const HEADS = ['DOCUMENT', 'HOLDER', 'TYPE', 'SIDE', 'COUNTRY', 'NUMBER', 'FILE', 'SUBMITTED'];

async function list({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await listDocumentsForReview(runtime, holderArgument(args));
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
  return { json, text: table(HEADS, lines) };
}

async function save(system: System, args: CommandArgs): Promise<Output> {
  const { document, content } = await openDocument(system, args.required('document'));
  const to = args.required('to');
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
    summary: 'List documents of a customer or one beneficial owner, oldest first',
    flags: {
      customer: {
        value: 'CUSTOMER',
        help: 'Filter by customer, including its beneficial owners. Required without --holder',
      },
      holder: {
        value: 'HOLDER',
        help: 'Filter by one customer or beneficial owner. Required without --customer',
      },
    },
    positional: 'customer',
    run: list,
  },
  {
    noun: 'documents',
    verb: 'save',
    summary: 'Write the file of a document to a new file, for review',
    flags: {
      document: { value: 'DOCUMENT', required: true, help: 'ID of the document' },
      to: { value: 'FILE', required: true, help: 'New file. An existing file is not overwritten' },
    },
    positional: 'document',
    run: save,
  },
];
