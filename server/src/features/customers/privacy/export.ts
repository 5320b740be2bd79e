// Exports all data about one customer as one JSON document or in pages. The document is streamed,
// because payments of several years do not fit into memory. Encrypted data is decrypted. Erased
// data is absent.
import { Fault, invalidField } from '../../../kernel/fault.ts';
import type { PageInput } from '../../../runtime/db/paging.ts';
import type { Files } from '../../../runtime/files/files.ts';
import { completeEventData, eventContext } from '../../../runtime/operation/event-data.ts';
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
type Table = PersonalTable<CustomerRow>;

interface ExportDeps {
  /** Streams the rows of one statement from one snapshot. */
  stream<R extends object>(text: string, values?: readonly unknown[]): AsyncIterable<R[]>;
  personalData: AllPersonalData;
}

interface PageDeps extends Pick<Runtime, 'db'> {
  personalData: AllPersonalData;
}

function tableNamed(personalData: AllPersonalData, name: string): Table {
  const table = personalData.map(({ tables }) => tables[name]).find((each) => each !== undefined);
  if (!table) throw new Error(`no feature declares personal data in the table ${name}`);
  return table;
}

/** Events about the customer, and balance events of its internal accounts. */
const eventsSql = (personalData: AllPersonalData) => `with owned as (${subjectIdsSql(personalData)}
    union all select id from internal_accounts where customer_id = $1)
  select to_jsonb(t) || jsonb_build_object('base', b.data) as row
  from events t left join events b on b.id = t.base_id
  where t.platform_id = $2 and t.id > $3
    and (t.sealed_for = $1 or t.subject in (select id from owned))
  order by t.id`;

interface StoredEvent {
  id: string;
  data: string;
  /** Data of the event from which this event differs. */
  base: string | null;
}

/**
 * Event with its data as delivered. Null for erased data and for data encrypted for another
 * customer, such as the inviter.
 */
function openEvent({ vault, key }: CustomerOpener, row: Json): Json {
  const { sealed_for: owner, data, base, base_id: _, ...rest } = row as Json & StoredEvent;
  const fullData = completeEventData(data, base);
  if (owner === null) return { ...rest, data: fullData === '' ? null : JSON.parse(fullData) };
  if (!key || key.owner !== owner || data === '') return { ...rest, data: null };
  return { ...rest, data: JSON.parse(vault.open(key, data, eventContext(rest.id)).toString()) };
}

/** A row without its omitted columns, with its sealed content opened. */
function openRow(opener: CustomerOpener, { without = [], open }: Table, row: Json): Json {
  const exportedColumns = Object.entries(row).filter(([column]) => !without.includes(column));
  return { ...Object.fromEntries(exportedColumns), ...open?.(opener, row) };
}

async function* rowsOf(
  { stream }: ExportDeps,
  opener: CustomerOpener,
  name: string,
  table: Table,
): AsyncGenerator<Json> {
  const { rows } = table;
  const sql = `select to_jsonb(t) as row from ${name} t where ${rows} order by t.id`;
  for await (const chunk of stream<{ row: Json }>(sql, [opener.customer.id])) {
    for (const { row } of chunk) {
      yield openRow(opener, table, row);
    }
  }
}

async function* eventsOf(deps: ExportDeps, opener: CustomerOpener): AsyncGenerator<Json> {
  const { id, platform_id, created_at } = opener.customer;
  const values = [id, platform_id, eventsFrom(created_at)];
  const sql = eventsSql(deps.personalData);
  for await (const chunk of deps.stream<{ row: Json }>(sql, values)) {
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
  deps: ExportDeps,
  opener: CustomerOpener,
): AsyncGenerator<string> {
  yield '{\n';
  for (const { tables } of deps.personalData) {
    for (const [name, table] of Object.entries(tables)) {
      yield* streamSection(name, rowsOf(deps, opener, name, table));
      yield ',\n';
    }
  }
  yield* streamSection('events', eventsOf(deps, opener));
  yield '\n}\n';
}

/** The position after a page of an export: the table, and the ID of its last row. */
interface ExportPosition {
  table: string;
  id: string;
}

const cursorOf = (position: ExportPosition): string =>
  Buffer.from(JSON.stringify(position)).toString('base64url');

function positionOf(cursor: string): ExportPosition {
  try {
    const { table, id } = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof table === 'string' && typeof id === 'string') return { table, id };
  } catch {
    // The cursor was not created by `cursorOf`.
  }
  throw invalidField('cursor', 'is not a cursor of this list');
}

interface ExportedRow extends ExportPosition {
  row: Json;
}

const EVENTS = 'events';

/** Up to `limit` rows of one table, after an ID. */
async function rowsAfter(
  { db, personalData }: PageDeps,
  opener: CustomerOpener,
  { table: name, id: afterId }: ExportPosition,
  limit: number,
): Promise<ExportedRow[]> {
  const { id, platform_id, created_at } = opener.customer;
  if (name === EVENTS) {
    const sql = `${eventsSql(personalData)} limit $4`;
    const values = [id, platform_id, afterId || eventsFrom(created_at), limit];
    const rows = await db.query<{ row: Json }>(sql, values);
    return rows.map(({ row }) => ({
      ...{ table: name, id: String(row.id) },
      row: openEvent(opener, row),
    }));
  }
  const table = tableNamed(personalData, name);
  const sql = `select to_jsonb(t) as row from ${name} t
    where (${table.rows}) and t.id > $2 order by t.id limit $3`;
  const rows = await db.query<{ row: Json }>(sql, [id, afterId, limit]);
  return rows.map(({ row }) => ({
    // The ID of the stored row, because some exports omit it.
    ...{ table: name, id: String(row.id) },
    row: openRow(opener, table, row),
  }));
}

/**
 * A page of the export: rows with their tables, in the order of the complete export. Rows can
 * change between two pages.
 */
export async function pageOfCustomerData(
  deps: PageDeps,
  opener: CustomerOpener,
  { cursor, limit }: PageInput,
) {
  const names = [...deps.personalData.flatMap(({ tables }) => Object.keys(tables)), EVENTS];
  const start = cursor === undefined ? undefined : positionOf(cursor);
  const firstIndex = start === undefined ? 0 : names.indexOf(start.table);
  if (firstIndex < 0) throw invalidField('cursor', 'is not a cursor of this list');
  const exportedRows: ExportedRow[] = [];
  for (const [index, table] of names.slice(firstIndex).entries()) {
    const id = index === 0 ? (start?.id ?? '') : '';
    exportedRows.push(
      ...(await rowsAfter(deps, opener, { table, id }, limit + 1 - exportedRows.length)),
    );
    if (exportedRows.length > limit) break;
  }
  const pageRows = exportedRows.slice(0, limit);
  const lastRow = pageRows.at(-1);
  const hasMore = exportedRows.length > limit;
  const { platform_id: platformId, id: customerId } = opener.customer;
  return {
    ...{ platformId, customerId, hasMore },
    data: pageRows.map(({ table, row }) => ({ table, row })),
    ...(hasMore && lastRow
      ? { nextCursor: cursorOf({ table: lastRow.table, id: lastRow.id }) }
      : {}),
  };
}

/** Decrypted files of the customer's documents with their names. None after erasure. */
export const openDocumentFiles = (
  storage: { runtime: Runtime; files: Pick<Files, 'read'> },
  { customer }: CustomerOpener,
) => filesOfCustomer(storage, customer);
