// Everything held about one customer as one JSON value, written as it is read: a customer with years of
// payments does not fit into memory. What is sealed is opened; what was erased is not there any more.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type DocumentRow,
  documentPersonal,
  documents,
  fileOf,
} from '../../features/customers/documents/index.ts';
import { customers, dataKeyOf } from '../../features/customers/records/index.ts';
import { ALL_OF_ONE } from '../../runtime/db/database.ts';
import { notFound, type System } from '../cli/verb.ts';
import { eventsFrom } from './erase.ts';
import { HELD, type Json, type Opener, OWNED, openEvent } from './personal-data.ts';

/** Of internal accounts the balances that were told. */
const EVENTS = `with owned as (${OWNED}
    union all select id from internal_accounts where customer_id = $1)
  select to_jsonb(t) - 'due_at' - 'attempts' as row from events t
  where t.platform_id = $2 and t.id > $3
    and (t.sealed_for = $1 or t.subject in (select id from owned))
  order by t.id`;

async function* rowsOf(
  system: System,
  opener: Opener,
  [name, { rows, without = [], open }]: (typeof ENTRIES)[number],
): AsyncGenerator<Json> {
  const sql = `select to_jsonb(t) as row from ${name} t where ${rows} order by t.id`;
  for await (const piece of system.stream<{ row: Json }>(sql, [opener.customer.id])) {
    for (const { row } of piece) {
      const kept = Object.entries(row).filter(([column]) => !without.includes(column));
      yield { ...Object.fromEntries(kept), ...open?.(opener, row) };
    }
  }
}

const ENTRIES = Object.entries(HELD);

async function* eventsOf(system: System, opener: Opener): AsyncGenerator<Json> {
  const { id, platform_id, created_at } = opener.customer;
  const values = [id, platform_id, eventsFrom(created_at)];
  for await (const piece of system.stream<{ row: Json }>(EVENTS, values)) {
    for (const { row } of piece) yield openEvent(opener, row);
  }
}

async function* section(name: string, rows: AsyncIterable<Json>): AsyncGenerator<string> {
  yield `  ${JSON.stringify(name)}: [`;
  let before = '\n';
  for await (const row of rows) {
    yield `${before}    ${JSON.stringify(row)}`;
    before = ',\n';
  }
  yield before === '\n' ? ']' : '\n  ]';
}

export async function openerOf({ runtime }: System, id: string): Promise<Opener> {
  const customer = await runtime.db.read(customers, id);
  if (!customer) throw notFound('customer');
  return { vault: runtime.vault, customer, key: dataKeyOf(customer) };
}

/** The export as JSON text, piece by piece. */
export async function* everythingAbout(system: System, opener: Opener): AsyncGenerator<string> {
  yield '{\n';
  for (const entry of ENTRIES) {
    yield* section(entry[0], rowsOf(system, opener, entry));
    yield ',\n';
  }
  yield* section('events', eventsOf(system, opener));
  yield '\n}\n';
}

/**
 * Writes to a new file that nobody else can read; throws where there is one. Where not all could be written
 * nothing stays that looks like all.
 */
export async function writeNew(
  file: string,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const out = createWriteStream(file, { mode: 0o600, flags: 'wx' });
  await once(out, 'open');
  try {
    await pipeline(Readable.from(pieces), out);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** A name that is a file in any folder: the document's id, and the end of the name it came with. */
function nameOf(row: DocumentRow, fileName: string): string {
  const [, end = ''] = /(\.[A-Za-z0-9]{1,8})$/.exec(fileName) ?? [];
  return row.id.replaceAll(':', '-') + end;
}

/** Writes the files of the customer's documents into a folder; answers how many. */
export async function writeFiles(system: System, opener: Opener, folder: string): Promise<number> {
  const { vault, customer, key } = opener;
  if (!key) return 0;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const rows = await system.runtime.db.find(documents, { customer_id: customer.id }, ALL_OF_ONE);
  for (const row of rows) {
    const { fileName } = documentPersonal(vault, key, row);
    const content = system.files.read(fileOf(vault, customer, row));
    await writeNew(path.join(folder, nameOf(row, fileName)), content);
  }
  return rows.length;
}
