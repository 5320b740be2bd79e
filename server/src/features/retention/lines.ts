// The lines of an archive: the rows of a partition as JSON objects. Content that can be personal data of a
// customer is sealed under the customer's data key, even if the row stores plain text. The erasure of the
// customer therefore also erases this content in every archive. Sealed content is not opened.
import { iso, type Time } from '../../kernel/effects.ts';
import type { Database } from '../../runtime/db/database.ts';
import { PARTITIONS, type PartitionedName } from '../../runtime/db/partitions/partitions.ts';
import { completeEventData, customerOf, eventContext } from '../../runtime/operation/event-data.ts';
import type { DataKey, Vault } from '../../runtime/security/vault.ts';
import { dataKeyOf, readCustomer } from '../customers/records/index.ts';
import type { AttemptRow } from '../notifications/webhooks/index.ts';
import { type ReadsRow, requestsOf } from '../tenancy/requests/index.ts';

interface LineDeps {
  db: Pick<Database, 'read'>;
  vault: Pick<Vault, 'seal'>;
}

type Line = Readonly<Record<string, unknown>>;

interface EventColumns {
  subject: string | null;
  data: string | null;
  base_id: string | null;
  base: string | null;
  sealed_for: string | null;
}

interface EventRow extends EventColumns {
  id: string;
  platform_id: string;
  type: string;
  subject: string;
  data: string;
  account: string | null;
  balance: bigint | null;
  held: bigint | null;
  created_at: Time;
  position: bigint;
}

type AttemptOfEvent = AttemptRow & EventColumns;

type Keys = ReadonlyMap<string, DataKey | undefined>;

/**
 * The plain data of an event, or undefined if it is sealed or erased, or its base event is missing.
 */
function dataOf({ data, base_id, base, sealed_for }: EventColumns): string | undefined {
  if (data === null || sealed_for !== null) return undefined;
  return completeEventData(data, base_id === null ? null : (base ?? '')) || undefined;
}

/** The customer that an event is about, or undefined if there is none. */
function customerIdOf(row: EventColumns): string | undefined {
  if (row.sealed_for !== null) return row.sealed_for;
  const text = dataOf(row);
  return customerOf(row.subject ?? '', text === undefined ? undefined : JSON.parse(text));
}

/** The data keys of the customers of some rows, or undefined for an erased customer. */
async function keysOf({ db }: LineDeps, customers: readonly (string | undefined)[]) {
  const ids = [...new Set(customers.flatMap((each) => each ?? []))];
  const keys = ids.map(async (id) => {
    const customer = await readCustomer(db, id);
    return [id, customer && dataKeyOf(customer)] as const;
  });
  return new Map(await Promise.all(keys));
}

/** A value sealed for a customer. `erased` if the key was deleted with the customer. */
const sealedText = (
  { vault }: LineDeps,
  key: DataKey | undefined,
  text: string,
  context: string,
): Line => (key ? { sealed: vault.seal(key, text, context) } : { erased: true });

function eventContent(deps: LineDeps, keys: Keys, row: EventRow, customer: string | undefined) {
  if (row.data === '') return { erased: true };
  if (row.sealed_for !== null) return { sealed: row.data };
  const text = dataOf(row);
  // If the base event is missing, only the differences remain.
  if (text === undefined) return { changes: row.data, baseId: row.base_id };
  if (customer === undefined) return { data: JSON.parse(text) };
  return sealedText(deps, keys.get(customer), text, eventContext(row.id));
}

async function eventLines(deps: LineDeps, rows: readonly EventRow[]): Promise<Line[]> {
  const customers = rows.map(customerIdOf);
  const keys = await keysOf(deps, customers);
  return rows.map((row, index) => ({
    ...{ id: row.id, platformId: row.platform_id, type: row.type, resourceId: row.subject },
    ...{ createdAt: iso(row.created_at), position: String(row.position) },
    customerId: customers[index],
    ...(row.account === null
      ? {}
      : { account: row.account, balance: String(row.balance), held: String(row.held) }),
    ...eventContent(deps, keys, row, customers[index]),
  }));
}

/** Sealing context of the response to an attempt. */
const attemptContext = ({ event_id, endpoint, attempt }: AttemptOfEvent) =>
  `webhook_attempts ${event_id} ${endpoint} ${attempt} response`;

/**
 * The response of an endpoint. Omitted if the event is missing, because the event identifies the
 * customer.
 */
function responseOf(deps: LineDeps, keys: Keys, row: AttemptOfEvent, customer: string | undefined) {
  const { head, response, subject } = row;
  if (head === null && response === null) return {};
  if (subject === null) return { response: { omitted: true } };
  if (customer === undefined) return { response: { head, body: response } };
  const text = JSON.stringify({ head, body: response });
  return { response: sealedText(deps, keys.get(customer), text, attemptContext(row)) };
}

async function attemptLines(deps: LineDeps, rows: readonly AttemptOfEvent[]): Promise<Line[]> {
  const customers = rows.map(customerIdOf);
  const keys = await keysOf(deps, customers);
  return rows.map((row, index) => ({
    ...{ eventId: row.event_id, platformId: row.platform_id, endpoint: row.endpoint },
    ...{ attempt: row.attempt, at: iso(row.at), status: row.status, error: row.error },
    ...{ ms: row.ms, result: row.result, customerId: customers[index] },
    ...responseOf(deps, keys, row, customers[index]),
  }));
}

/** The columns of a request, unsealed, because requests belong to no customer and their bodies are masked. */
const plainLine = (row: object): Line => {
  const { operation_hash, token_hash, failed_status, created_at, ...columns } = row as Line & {
    created_at: Time;
  };
  const presentColumns = Object.entries(columns).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(presentColumns), created_at: iso(created_at) };
};

const readLines = (rows: readonly ReadsRow[]): Line[] =>
  rows.flatMap((row) => requestsOf(row, () => true).map(plainLine));

interface Source {
  /** The statement that reads a partition in the order of its lines. */
  sql(partition: string): string;
  /** The archive lines of these rows. */
  lines(deps: LineDeps, rows: readonly object[]): Promise<Line[]> | Line[];
}

export const SOURCES: Readonly<Record<PartitionedName, Source>> = {
  events: {
    sql: (
      name,
    ) => `select e.id, e.platform_id, e.type, e.subject, e.data, e.base_id, b.data as base,
        e.account, e.balance, e.held, e.created_at, e.position, e.sealed_for
      from ${PARTITIONS}.${name} e left join ${PARTITIONS}.${name} b on b.id = e.base_id
      order by e.id`,
    lines: (deps, rows) => eventLines(deps, rows as readonly EventRow[]),
  },
  webhook_attempts: {
    sql: (name) => `select a.*, e.subject, e.data, e.base_id, b.data as base, e.sealed_for
      from ${PARTITIONS}.${name} a
        left join events e on e.id = a.event_id and coalesce(a.head, a.response) is not null
        left join events b on b.id = e.base_id
      order by a.event_id, a.endpoint, a.attempt`,
    lines: (deps, rows) => attemptLines(deps, rows as readonly AttemptOfEvent[]),
  },
  api_requests: {
    sql: (name) => `select * from ${PARTITIONS}.${name} order by created_at, id`,
    lines: (_, rows) => rows.map(plainLine),
  },
  api_request_bodies: {
    sql: (name) => `select * from ${PARTITIONS}.${name} order by created_at, id`,
    lines: (_, rows) => rows.map(plainLine),
  },
  api_request_reads: {
    sql: (name) => `select * from ${PARTITIONS}.${name} order by last_at, last_id`,
    lines: (_, rows) => readLines(rows as readonly ReadsRow[]),
  },
};
