// `customers find|export|erase|erasures`: what an operator owes the people behind a platform's customers.
// They can be found by what they know of themselves, be given all that is held about them, and be erased
// once their platform has deleted them. Found are ids alone: who may see more asks for the export.
import { digestOf, SOUGHT, type Sought } from '../../features/customers/records/index.ts';
import { iso } from '../../kernel/world.ts';
import { loadSigningKeys } from '../../runtime/security/keys.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';
import { type ErasureRow, erase } from './erase.ts';
import { everythingAbout, openerOf, writeFiles, writeNew } from './export-customer.ts';

const findSql = (what: Sought) => `select * from (
    select c.id as "customerId", c.platform_id as "platformId", c.type, c.status,
      c.deleted_at is not null as "isDeleted", null as "ownerId"
    from customers c where c.${what}_digest = $1
    union all
    select c.id, c.platform_id, c.type, c.status, c.deleted_at is not null, o.id
    from beneficial_owners o join customers c on c.id = o.customer_id where o.${what}_digest = $1
  ) found
  where $2::text is null or "platformId" = $2
  order by "customerId", "ownerId" nulls first limit $3`;

interface Found {
  customerId: string;
  platformId: string;
  type: string;
  status: string;
  isDeleted: boolean;
  /** Whom the value belongs to where it is not the customer itself: an owner of the business. */
  ownerId: string | null;
}

function soughtIn(given: Given): [Sought, string] {
  const asked = SOUGHT.flatMap((what): [Sought, string][] => {
    const value = given.text(what);
    return value === undefined ? [] : [[what, value]];
  });
  const [one, ...more] = asked;
  if (!one || more.length) throw usageError('One of --email, --phone and --identifier is needed');
  return one;
}

async function find(system: System, given: Given): Promise<Output> {
  const { db, vault } = system.runtime;
  const [what, value] = soughtIn(given);
  // Under another master key nothing would ever be found; this says so instead.
  await loadSigningKeys(system.runtime, system.masterKey());
  const platform = given.text('platform');
  const of = platform === undefined ? null : (await platformOf(system, platform)).id;
  const digest = digestOf(vault, what, value);
  const json =
    digest === null
      ? []
      : await db.query<Found & object>(findSql(what), [digest, of, limitIn(given)]);
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

async function exportOne(system: System, given: Given): Promise<Output> {
  const customerId = given.needed('customer');
  const opener = await openerOf(system, customerId);
  const [to, folder] = [given.text('to'), given.text('files')];
  if (folder !== undefined && to === undefined) throw usageError('--files goes with --to');
  const pieces = everythingAbout(system, opener);
  if (to === undefined) return { json: null, text: '', pieces, isJson: true };
  await writeNew(to, pieces);
  const files = folder === undefined ? null : await writeFiles(system, opener, folder);
  const rest = files === null ? '' : `, and ${files} files to ${folder}`;
  const text = `Everything held about ${customerId} was written to ${to}${rest}.\n`;
  return { json: { customerId, to, files }, text };
}

const view = (row: ErasureRow) => ({
  customerId: row.id,
  platformId: row.platform_id,
  actor: row.actor,
  reason: row.reason,
  counts: row.counts,
  startedAt: iso(row.created_at),
  finishedAt: row.finished_at === null ? null : iso(row.finished_at),
});

async function eraseOne({ runtime }: System, given: Given): Promise<Output> {
  if (!given.on('yes')) {
    throw usageError('What is erased cannot be had again but from a backup. Say --yes');
  }
  const asked = { actor: given.text('by') ?? 'operator', reason: given.text('reason') ?? null };
  const json = view(await erase(runtime, given.needed('customer'), asked));
  const emptied = Object.entries(json.counts).filter(([, count]) => count > 0);
  const text = record([
    ['Customer', json.customerId],
    ['Asked for by', json.actor],
    ['Erased at', json.finishedAt ?? 'not finished'],
    ...emptied.map(([name, count]): [string, string] => [name, String(count)]),
  ]);
  return { json, text };
}

const ERASURES = `select id, platform_id, actor, reason, counts, created_at, finished_at, version
  from erasures where ($1::text is null or platform_id = $1) order by created_at desc, id limit $2`;

async function list(system: System, given: Given): Promise<Output> {
  const platform = given.text('platform');
  const of = platform === undefined ? null : (await platformOf(system, platform)).id;
  const rows = await system.runtime.db.query<ErasureRow & object>(ERASURES, [of, limitIn(given)]);
  const json = rows.map(view);
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
