// Exports all data about one customer as one JSON document, streamed because years of payments do not fit
// into memory. Encrypted data is decrypted; erased data is absent.
import { Fault } from '../../../kernel/fault.ts';
import type { Files } from '../../../runtime/files/files.ts';
import { eventContext, wholeEventData } from '../../../runtime/operation/event-data.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  eventsFrom,
  type Json,
  type Opener,
  type PersonalTable,
} from '../../../runtime/operation/personal-data.ts';
import { filesOfCustomer } from '../documents/index.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../records/index.ts';
import { type AllPersonalData, subjectIdsSql } from './subjects.ts';

type CustomerOpener = Opener<CustomerRow>;

interface ExportParts {
  /** Streams the rows of one statement from one snapshot. */
  stream<R extends object>(text: string, values?: readonly unknown[]): AsyncIterable<R[]>;
  personalData: AllPersonalData;
}

/** Events about the customer, and balance events of its internal accounts. */
const eventsSql = (all: AllPersonalData) => `with owned as (${subjectIdsSql(all)}
    union all select id from internal_accounts where customer_id = $1)
  select to_jsonb(t) || jsonb_build_object('base', b.data) as row
  from events t left join events b on b.id = t.base_id
  where t.platform_id = $2 and t.id > $3
    and (t.sealed_for = $1 or t.subject in (select id from owned))
  order by t.id`;

interface StoredEvent {
  id: string;
  data: string;
  /** Data of the event that it differs from. */
  base: string | null;
}

/** Event with its data as delivered. Events of an invitation can be encrypted for the inviting customer. */
function openEvent({ vault, key }: CustomerOpener, row: Json): Json {
  const { sealed_for: owner, data, base, base_id: _, ...rest } = row as Json & StoredEvent;
  const fullData = wholeEventData(data, base);
  if (owner === null) return { ...rest, data: fullData === '' ? null : JSON.parse(fullData) };
  if (!key || key.owner !== owner || data === '') return { ...rest, data: null };
  return { ...rest, data: JSON.parse(vault.open(key, data, eventContext(rest.id)).toString()) };
}

async function* rowsOf(
  { stream }: ExportParts,
  opener: CustomerOpener,
  name: string,
  table: PersonalTable<CustomerRow>,
): AsyncGenerator<Json> {
  const { rows, without = [] } = table;
  const sql = `select to_jsonb(t) as row from ${name} t where ${rows} order by t.id`;
  for await (const chunk of stream<{ row: Json }>(sql, [opener.customer.id])) {
    for (const { row } of chunk) {
      const exportedColumns = Object.entries(row).filter(([column]) => !without.includes(column));
      yield { ...Object.fromEntries(exportedColumns), ...table.open?.(opener, row) };
    }
  }
}

async function* eventsOf(parts: ExportParts, opener: CustomerOpener): AsyncGenerator<Json> {
  const { id, platform_id, created_at } = opener.customer;
  const values = [id, platform_id, eventsFrom(created_at)];
  const sql = eventsSql(parts.personalData);
  for await (const chunk of parts.stream<{ row: Json }>(sql, values)) {
    for (const { row } of chunk) yield openEvent(opener, row);
  }
}

async function* streamSection(name: string, rows: AsyncIterable<Json>): AsyncGenerator<string> {
  yield `  ${JSON.stringify(name)}: [`;
  let separator = '\n';
  for await (const row of rows) {
    yield `${separator}    ${JSON.stringify(row)}`;
    separator = ',\n';
  }
  yield separator === '\n' ? ']' : '\n  ]';
}

/** Reads the customer and its data key. Throws CUSTOMER_NOT_FOUND. */
export async function openCustomerData(
  { db, vault }: Runtime,
  customerId: string,
): Promise<CustomerOpener> {
  const customer = await readCustomer(db, customerId);
  if (!customer) throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  return { vault, customer, key: dataKeyOf(customer) };
}

/** Streams the export as JSON text. */
export async function* exportCustomerData(
  parts: ExportParts,
  opener: CustomerOpener,
): AsyncGenerator<string> {
  yield '{\n';
  for (const { tables } of parts.personalData) {
    for (const [name, table] of Object.entries(tables)) {
      yield* streamSection(name, rowsOf(parts, opener, name, table));
      yield ',\n';
    }
  }
  yield* streamSection('events', eventsOf(parts, opener));
  yield '\n}\n';
}

/** Decrypted files of the customer's documents with their names; none after erasure. */
export const openDocumentFiles = (
  storage: { runtime: Runtime; files: Pick<Files, 'read'> },
  { customer }: CustomerOpener,
) => filesOfCustomer(storage, customer);
