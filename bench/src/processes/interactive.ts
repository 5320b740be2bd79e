// Base of the peers with the conventional implementation: one database transaction per request, on
// a pooled connection, with one prepared statement per step. The peers run the operations of the
// server, so only the access to the database differs. Rows of one table that are read by ID at the
// same time are read by one statement. Transfers and events are inserted by one statement each, and
// accounts are locked in the order of their IDs.
import pg from 'pg';
import type { TransferRow } from '../../../server/src/ledger/transfer.ts';
import type { ChangeSet, EventRow, Row } from '../../../server/src/runtime/committer/change-set.ts';
import type { Database } from '../../../server/src/runtime/db/database.ts';
import type { ColumnType, Table } from '../../../server/src/runtime/db/table.ts';

const PARSERS: Record<number, (text: string) => unknown> = {
  20: BigInt,
  1184: (text) => Date.parse(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`),
};
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Opens a pool that parses numbers and times like the server. */
export function openPool(url: string, size: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: size, min: size, types });
  pool.on('connect', (client) => void client.query("set timezone = 'UTC'"));
  return pool;
}

const statementNames = new Map<string, string>();

/** Runs a statement, prepared under one name per text. */
async function run(
  client: pg.PoolClient,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
  let name = statementNames.get(text);
  if (!name) {
    name = `peer_${statementNames.size + 1}`;
    statementNames.set(text, name);
  }
  return client.query({ name, text, values });
}

/** Row locks by table: for rows that are changed, or that must not change. */
export type Locks = Readonly<Record<string, 'for no key update' | 'for share'>>;

/** A statement that selects the rows with these values, null included. */
function selectStatement(table: Table, conditions: object, lock: string) {
  const values: unknown[] = [];
  const clauses = Object.entries(conditions).map(([name, value]) =>
    value === null ? `${name} is null` : `${name} = $${values.push(value)}`,
  );
  return { text: `select * from ${table.name} where ${clauses.join(' and ')}${lock}`, values };
}

const keyOf = ({ name }: Table, id: string) => `${name} ${id}`;

/** A reader within the transaction that applies the requested locks. */
export function readerOf(client: pg.PoolClient, locks: Locks): Database {
  const lockOf = ({ name }: Table) => (locks[name] ? ` ${locks[name]}` : '');
  const rowsByKey = new Map<string, Promise<Row | undefined>>();
  let requestedIds = new Map<Table, string[]>();
  let responses: Promise<Map<string, Row>> | undefined;
  async function fetchAll(): Promise<Map<string, Row>> {
    await Promise.resolve();
    const idsByTable = requestedIds;
    requestedIds = new Map();
    responses = undefined;
    const rowsById = new Map<string, Row>();
    for (const [table, ids] of idsByTable) {
      const text = `select * from ${table.name} where id = any($1::text[])${lockOf(table)}`;
      for (const row of (await run(client, text, [ids])).rows)
        rowsById.set(keyOf(table, row.id), row);
    }
    return rowsById;
  }
  function read(table: Table, id: string): Promise<Row | undefined> {
    // An internal account and its ledger account have the same ID.
    const key = keyOf(table, id);
    const cachedRow = rowsByKey.get(key);
    if (cachedRow) return cachedRow;
    requestedIds.set(table, [...(requestedIds.get(table) ?? []), id]);
    responses ??= fetchAll();
    const row = responses.then((rows) => rows.get(key));
    rowsByKey.set(key, row);
    return row;
  }
  async function find(table: Table, conditions: object): Promise<Row[]> {
    const { text, values } = selectStatement(table, conditions, lockOf(table));
    return (await run(client, text, values)).rows;
  }
  // The operations of these rows use only read and find of the database interface.
  return { read, find } as unknown as Database;
}

function parameterOf(type: ColumnType | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'time') return new Date(value as number);
  return value;
}

/** Inserts several rows with one statement. */
export async function insert(
  client: pg.PoolClient,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  let index = 0;
  const tuples = rows.map((row) => `(${row.map(() => `$${++index}`).join(', ')})`);
  const text = `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')}`;
  await run(client, text, rows.flat());
}

export async function writeRows(client: pg.PoolClient, changeSet: ChangeSet): Promise<void> {
  const typeOf = (table: Table, name: string) => table.columns[name]?.type;
  for (const { table, id, version, row } of changeSet.updates) {
    const mutableColumns = table.mutableNames.filter((name) => name !== 'version');
    const sets = mutableColumns.map((name, index) => `${name} = $${index + 3}`).join(', ');
    const text = `update ${table.name} set ${sets}, version = version + 1 where id = $1 and version = $2`;
    const values = mutableColumns.map((name) => parameterOf(typeOf(table, name), row[name]));
    const { rowCount } = await run(client, text, [id, version, ...values]);
    if (rowCount !== 1) throw new Error(`${id} was changed by another transaction`);
  }
  for (const { table, row } of changeSet.inserts) {
    const values = table.columnNames.map((name) => parameterOf(typeOf(table, name), row[name]));
    await insert(client, table.name, table.columnNames, [values]);
  }
}

const TRANSFER_COLUMNS = [
  'transaction_id',
  'step',
  'phase',
  'debit',
  'credit',
  'currency',
  'amount',
  'created_at',
] as const satisfies readonly (keyof TransferRow)[];

const LOCK = `select id from ledger_accounts where id = any($1::text[]) order by id for no key update`;
const POST = `update ledger_accounts a set balance = a.balance + x.net, held = a.held + x.hold
  from unnest($1::text[], $2::bigint[], $3::bigint[]) x(id, net, hold)
  where a.id = x.id and not a.frozen
    and (a.floor is null or a.balance - a.held + x.net - x.hold >= a.floor)
  returning a.id, a.balance, a.held`;

interface AccountBalances {
  balance: bigint;
  held: bigint;
}

/** Changes of `balance` and `held` by account. */
function balanceChangesOf(transfers: readonly TransferRow[]) {
  const changesByAccount = new Map<string, { net: bigint; hold: bigint }>();
  const add = (id: string, net: bigint, hold: bigint) => {
    const sum = changesByAccount.get(id) ?? { net: 0n, hold: 0n };
    changesByAccount.set(id, { net: sum.net + net, hold: sum.hold + hold });
  };
  for (const { phase, debit, credit, amount } of transfers) {
    if (phase === 'pending') add(debit, 0n, amount);
    else if (phase === 'posted') {
      add(debit, -amount, 0n);
      add(credit, amount, 0n);
    } else throw new Error(`the peer does not support ${phase}`);
  }
  return changesByAccount;
}

/**
 * Writes transfers and updates balances. Returns the new balances. `areAccountsLocked`: the accounts are
 * already locked.
 */
export async function writeTransfers(
  client: pg.PoolClient,
  transfers: readonly TransferRow[],
  { areAccountsLocked = false }: { areAccountsLocked?: boolean } = {},
): Promise<Map<string, AccountBalances>> {
  const rows = transfers.map((transfer) =>
    TRANSFER_COLUMNS.map((name) =>
      parameterOf(name === 'created_at' ? 'time' : 'text', transfer[name]),
    ),
  );
  await insert(client, 'ledger_transfers', TRANSFER_COLUMNS, rows);
  const changesByAccount = balanceChangesOf(transfers);
  const ids = [...changesByAccount.keys()];
  if (!areAccountsLocked) await run(client, LOCK, [ids]);
  const changes = [...changesByAccount.values()];
  const values = [ids, changes.map(({ net }) => net), changes.map(({ hold }) => hold)];
  const balanceRows = await run(client, POST, values);
  if (balanceRows.rowCount !== changesByAccount.size)
    throw new Error('an account does not exist, is frozen or has insufficient funds');
  return new Map(balanceRows.rows.map((row) => [row.id as string, row as AccountBalances]));
}

const EVENT_COLUMNS = [
  'id',
  'platform_id',
  'type',
  'subject',
  'data',
  'account',
  'created_at',
  'base_id',
] as const satisfies readonly (keyof EventRow)[];

export async function writeEvents(
  client: pg.PoolClient,
  events: readonly EventRow[],
  balancesByAccount: ReadonlyMap<string, AccountBalances>,
): Promise<void> {
  const rows = events.map((event) => {
    const balances = event.account === null ? undefined : balancesByAccount.get(event.account);
    const values = EVENT_COLUMNS.map((name) =>
      parameterOf(name.endsWith('_at') ? 'time' : 'text', event[name]),
    );
    return [...values, balances?.balance ?? null, balances?.held ?? null];
  });
  await insert(client, 'events', [...EVENT_COLUMNS, 'balance', 'held'], rows);
}
