// `customers find|export|erase|erasures|erasures repeat`: the rights of data subjects. Finds
// customers by personal data, exports all data held about a customer, and erases the data of a
// deleted customer. After a restore, the erasures of a list are repeated. A search returns no
// personal data.

import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { SEARCH_FIELDS, type SearchField } from '../../features/customers/digests/index.ts';
import {
  eraseCustomerData,
  exportCustomerData,
  findCustomers,
  listErasures,
  openCustomerData,
  openDocumentFiles,
  repeatErasures,
} from '../../features/customers/privacy/index.ts';
import { deleteCustomer } from '../../features/customers/registration/index.ts';
import { isCustomerPaying } from '../../features/payments/lifecycle/index.ts';
import { PERSONAL_DATA } from '../../personal-data.ts';
import { checkSigningKeys } from '../../runtime/security/keys.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { writeNew } from '../cli/new-file.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

function searchOf(args: CommandArgs): [SearchField, string] {
  const requestedSearches = SEARCH_FIELDS.flatMap((field): [SearchField, string][] => {
    const value = args.text(field);
    return value === undefined ? [] : [[field, value]];
  });
  const [search, ...otherSearches] = requestedSearches;
  if (!search || otherSearches.length)
    throw usageError('Exactly one of --email, --phone, --identifier and --name is required');
  return search;
}

async function find(system: System, args: CommandArgs): Promise<Output> {
  const [field, value] = searchOf(args);
  // Another master key is reported, because a search with it would return no match.
  await checkSigningKeys(system.runtime);
  const { data: json } = await findCustomers(system.runtime, {
    by: field,
    value,
    platformId: await platformIn(system, args),
    limit: limitIn(args),
  });
  const heads = ['CUSTOMER', 'PLATFORM', 'TYPE', 'STATUS', 'DELETED', 'OWNER'];
  const text = table(
    heads,
    json.map((each) => [
      each.customerId,
      each.platformId,
      each.type,
      each.status,
      each.isDeleted ? 'yes' : '',
      each.ownerId ?? '',
    ]),
  );
  return { json, text };
}

async function exportOne(system: System, args: CommandArgs): Promise<Output> {
  const customerId = args.required('customer');
  const opener = await openCustomerData(system.runtime, customerId);
  const [to, folder] = [args.text('to'), args.text('files')];
  if (folder !== undefined && to === undefined) throw usageError('--files requires --to');
  const chunks = exportCustomerData({ ...system, personalData: PERSONAL_DATA }, opener);
  if (to === undefined) return { json: null, text: '', chunks, isJson: true };
  await writeNew(to, chunks);
  let files: number | null = null;
  if (folder !== undefined) {
    const documentFiles = await openDocumentFiles(system, opener);
    if (documentFiles.length) await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const { name, open } of documentFiles) await writeNew(path.join(folder, name), open());
    files = documentFiles.length;
  }
  const filesText = files === null ? '' : `, and ${files} files to ${folder}`;
  const text = `All data held about ${customerId} was written to ${to}${filesText}.\n`;
  return { json: { customerId, to, files }, text };
}

async function eraseOne({ runtime }: System, args: CommandArgs): Promise<Output> {
  if (!args.isOn('yes')) {
    throw usageError('An erasure cannot be undone. Confirm with --yes');
  }
  const json = await eraseCustomerData(runtime, PERSONAL_DATA, {
    customerId: args.required('customer'),
    actor: args.text('by') ?? 'operator',
    reason: args.text('reason') ?? null,
  });
  const categories = Object.entries(json.counts).filter(([, count]) => count > 0);
  const text = record([
    ['Customer', json.customerId],
    ['Requested by', json.actor],
    ['Erased at', json.finishedAt ?? 'not finished'],
    ...categories.map(([name, count]): [string, string] => [name, String(count)]),
  ]);
  return { json, text };
}

async function repeatList({ runtime }: System, args: CommandArgs): Promise<Output> {
  if (!args.isOn('yes')) throw usageError('An erasure cannot be undone. Confirm with --yes');
  const file = args.required('file');
  const input: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(input))
    throw new Error(
      `${file} is not a list of erasures. Use the output of customers erasures --json.`,
    );
  const json = await repeatErasures(
    runtime,
    PERSONAL_DATA,
    (ctx, id) => deleteCustomer(ctx, { isCustomerPaying }, id),
    input,
  );
  const lines = json.map(({ customerId, result, problem }) =>
    [customerId, result, problem ?? ''].join(' ').trim(),
  );
  return {
    json,
    text: `${lines.join('\n')}\n`,
    hasFailed: json.some(({ result }) => result === 'REJECTED'),
  };
}

async function list(system: System, args: CommandArgs): Promise<Output> {
  const platformId = await platformIn(system, args);
  const { data: json } = await listErasures(system.runtime, { platformId, limit: limitIn(args) });
  const heads = ['CUSTOMER', 'PLATFORM', 'STARTED', 'FINISHED', 'BY', 'REASON'];
  const text = table(
    heads,
    json.map((each) => [
      each.customerId,
      each.platformId,
      each.startedAt,
      each.finishedAt ?? 'not finished',
      each.actor,
      each.reason ?? '',
    ]),
  );
  return { json, text };
}

const CUSTOMER: Flags = {
  customer: { value: 'CUSTOMER', required: true, help: 'ID of the customer' },
};
const PLATFORM: Flags = {
  platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
};

export const customerVerbs: readonly Verb[] = [
  {
    noun: 'customers',
    verb: 'find',
    summary: 'Find customers and beneficial owners by personal data',
    flags: {
      email: {
        value: 'ADDRESS',
        help: 'E-mail address. Exactly one of email, phone, name and identifier is required',
      },
      phone: { value: 'NUMBER', help: 'Telephone number' },
      name: { value: 'NAME', help: 'Full name, or words of it' },
      identifier: { value: 'NUMBER', help: 'Identity or tax number' },
      ...PLATFORM,
      ...LIMIT,
    },
    run: find,
  },
  {
    noun: 'customers',
    verb: 'export',
    summary: 'Export all data held about a customer, as JSON',
    flags: {
      ...CUSTOMER,
      to: { value: 'FILE', help: 'New file to write instead of standard output' },
      files: { value: 'FOLDER', help: 'Folder for the document files. Requires --to' },
    },
    positional: 'customer',
    run: exportOne,
  },
  {
    noun: 'customers',
    verb: 'erase',
    summary: 'Erase the personal data of a deleted customer. The ledger is unchanged',
    flags: {
      ...CUSTOMER,
      yes: { negation: 'no', help: 'Confirm. An erasure cannot be undone' },
      by: {
        value: 'NAME',
        help: 'Name of the person who requests the erasure (default: operator)',
      },
      reason: { value: 'TEXT', help: 'Reason, stored with the erasure' },
    },
    positional: 'customer',
    run: eraseOne,
  },
  {
    noun: 'customers',
    verb: 'erasures repeat',
    summary: 'Repeat the erasures of a list after a restore. Exit code 1 if one is rejected',
    flags: {
      file: { value: 'FILE', required: true, help: 'Output of customers erasures --json' },
      yes: { negation: 'no', help: 'Confirm. An erasure cannot be undone' },
    },
    positional: 'file',
    run: repeatList,
  },
  {
    noun: 'customers',
    verb: 'erasures',
    summary: 'List erasures, newest first',
    flags: { ...PLATFORM, ...LIMIT },
    positional: 'platform',
    run: list,
  },
];
