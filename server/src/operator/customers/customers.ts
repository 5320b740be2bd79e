// `customers find|export|erase|erasures`: what an operator owes the people behind a platform's customers.
// They can be found by what they know of themselves, be given all that is held about them, and be erased
// once their platform has deleted them. Found are ids alone: who may see more asks for the export.

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
} from '../../features/customers/privacy/index.ts';
import { PERSONAL_DATA } from '../../personal-data.ts';
import { loadSigningKeys } from '../../runtime/security/keys.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { writeNew } from '../cli/new-file.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

function searchOf(args: CommandArgs): [SearchField, string] {
  const asked = SEARCH_FIELDS.flatMap((what): [SearchField, string][] => {
    const value = args.text(what);
    return value === undefined ? [] : [[what, value]];
  });
  const [one, ...more] = asked;
  if (!one || more.length) throw usageError('One of --email, --phone and --identifier is needed');
  return one;
}

async function find(system: System, args: CommandArgs): Promise<Output> {
  const [by, value] = searchOf(args);
  // Under another master key nothing would ever be found; this says so instead.
  await loadSigningKeys(system.runtime, system.masterKey());
  const json = await findCustomers(system.runtime, {
    by,
    value,
    platformId: await platformIn(system, args),
    limit: limitIn(args),
  });
  const heads = ['CUSTOMER', 'PLATFORM', 'TYPE', 'STATUS', 'DELETED', 'OWNER'];
  const text = table(
    heads.map((head) => ({ head })),
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
  if (folder !== undefined && to === undefined) throw usageError('--files goes with --to');
  const pieces = exportCustomerData({ ...system, personalData: PERSONAL_DATA }, opener);
  if (to === undefined) return { json: null, text: '', pieces, isJson: true };
  await writeNew(to, pieces);
  let files: number | null = null;
  if (folder !== undefined) {
    const held = await openDocumentFiles(system, opener);
    if (held.length) await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const { name, open } of held) await writeNew(path.join(folder, name), open());
    files = held.length;
  }
  const rest = files === null ? '' : `, and ${files} files to ${folder}`;
  const text = `Everything held about ${customerId} was written to ${to}${rest}.\n`;
  return { json: { customerId, to, files }, text };
}

async function eraseOne({ runtime }: System, args: CommandArgs): Promise<Output> {
  if (!args.on('yes')) {
    throw usageError('What is erased cannot be had again but from a backup. Say --yes');
  }
  const json = await eraseCustomerData(runtime, PERSONAL_DATA, {
    customerId: args.required('customer'),
    actor: args.text('by') ?? 'operator',
    reason: args.text('reason') ?? null,
  });
  const emptied = Object.entries(json.counts).filter(([, count]) => count > 0);
  const text = record([
    ['Customer', json.customerId],
    ['Asked for by', json.actor],
    ['Erased at', json.finishedAt ?? 'not finished'],
    ...emptied.map(([name, count]): [string, string] => [name, String(count)]),
  ]);
  return { json, text };
}

async function list(system: System, args: CommandArgs): Promise<Output> {
  const platformId = await platformIn(system, args);
  const json = await listErasures(system.runtime, { platformId, limit: limitIn(args) });
  const heads = ['CUSTOMER', 'PLATFORM', 'STARTED', 'FINISHED', 'BY', 'REASON'];
  const text = table(
    heads.map((head) => ({ head })),
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
  customer: { value: 'CUSTOMER', required: true, help: 'Id of the customer' },
};
const PLATFORM: Flags = { platform: { value: 'PLATFORM', help: 'Only those of this platform' } };

export const customerVerbs: readonly Verb[] = [
  {
    noun: 'customers',
    verb: 'find',
    summary: 'Find customers, and owners of businesses, by what only they would know',
    flags: {
      email: { value: 'ADDRESS', help: 'With this e-mail address' },
      phone: { value: 'NUMBER', help: 'With this telephone number' },
      identifier: { value: 'NUMBER', help: 'With this identity or tax number' },
      ...PLATFORM,
      ...LIMIT,
    },
    run: find,
  },
  {
    noun: 'customers',
    verb: 'export',
    summary: 'Write down everything that is held about a customer, as JSON',
    flags: {
      ...CUSTOMER,
      to: { value: 'FILE', help: 'Into this new file instead of standard output' },
      files: { value: 'FOLDER', help: 'With the files of its documents into this folder' },
    },
    bare: 'customer',
    run: exportOne,
  },
  {
    noun: 'customers',
    verb: 'erase',
    summary: 'Erase what is personal about a deleted customer; the books stay whole',
    flags: {
      ...CUSTOMER,
      yes: { off: 'no', help: 'Really: nothing brings it back' },
      by: { value: 'NAME', help: 'Who asked for it (operator)' },
      reason: { value: 'TEXT', help: 'Why, for those who look later' },
    },
    bare: 'customer',
    run: eraseOne,
  },
  {
    noun: 'customers',
    verb: 'erasures',
    summary: 'List whose data was erased, latest first',
    flags: { ...PLATFORM, ...LIMIT },
    bare: 'platform',
    run: list,
  },
];
