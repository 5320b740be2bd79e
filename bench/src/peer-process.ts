// The usual way, as a peer: one database transaction for each request, on a connection of its own from a
// pool, statement by statement, behind a bare route. It runs the very operation of the server, so it reads,
// decides and writes the same rows to the byte; only the way they get into the database differs. It is
// written to do well: reads that can go together do, every row is read once, statements are prepared, new
// rows of one table go in one statement, accounts are locked last and in the order of their ids.
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { connectorRegistry } from '../../server/src/connectors/registry.ts';
import { quoteOperations } from '../../server/src/features/quotes/operations.ts';
import type { ChangeSet, EventRow, Row, TransferRow } from '../../server/src/runtime/change-set.ts';
import { type Caller, createContext } from '../../server/src/runtime/context.ts';
import type { Database } from '../../server/src/runtime/database.ts';
import { systemWorld } from '../../server/src/runtime/system-world.ts';
import type { ColumnType, Table } from '../../server/src/runtime/table.ts';
import { createVault } from '../../server/src/runtime/vault.ts';
import { answer } from './answer.ts';

export interface PeerOptions {
  url: string;
  poolSize: number;
  platformId: string;
  authorization: string;
}

const world = systemWorld();
const vault = createVault(world, () => {
  throw new Error('executing opens nothing personal');
});
const operation = quoteOperations({ connectors: connectorRegistry(world), origin: () => '' }).find(
  ({ contract }) => contract.operationId === 'executeQuote',
);

const PARSERS: Record<number, (text: string) => unknown> = {
  20: BigInt,
  1184: (text) => Date.parse(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`),
};
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

const names = new Map<string, string>();

/** A prepared statement, named by its text. */
async function run(
  client: pg.PoolClient,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult> {
  let name = names.get(text);
  if (!name) {
    name = `peer_${names.size + 1}`;
    names.set(text, name);
  }
  return client.query({ name, text, values });
}

/** Reads rows by id inside the transaction; one that will be changed is locked right away. */
function readerOf(client: pg.PoolClient): Database {
  const known = new Map<string, Promise<Row | undefined>>();
  let asked = new Map<Table, string[]>();
  let answers: Promise<Map<string, Row>> | undefined;
  async function fetchAll(): Promise<Map<string, Row>> {
    await Promise.resolve();
    const all = asked;
    asked = new Map();
    answers = undefined;
    const found = new Map<string, Row>();
    for (const [table, ids] of all) {
      const lock = table.name === 'transactions' ? ' for no key update' : '';
      const text = `select * from ${table.name} where id = any($1::text[])${lock}`;
      for (const row of (await run(client, text, [ids])).rows) found.set(row.id, row);
    }
    return found;
  }
  function read(table: Table, id: string): Promise<Row | undefined> {
    const before = known.get(id);
    if (before) return before;
    asked.set(table, [...(asked.get(table) ?? []), id]);
    answers ??= fetchAll();
    const row = answers.then((rows) => rows.get(id));
    known.set(id, row);
    return row;
  }
  return { read } as unknown as Database;
}

function bound(type: ColumnType | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'time') return new Date(value as number);
  return value;
}

/** `insert` of several rows with one statement. */
async function insert(
  client: pg.PoolClient,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  let at = 0;
  const tuples = rows.map((row) => `(${row.map(() => `$${++at}`).join(', ')})`);
  const text = `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')}`;
  await run(client, text, rows.flat());
}

async function writeRows(client: pg.PoolClient, set: ChangeSet): Promise<void> {
  const typeOf = (table: Table, name: string) => table.columns[name]?.type;
  for (const { table, id, version, row } of set.updates) {
    const changing = table.mutableNames.filter((name) => name !== 'version');
    const sets = changing.map((name, at) => `${name} = $${at + 3}`).join(', ');
    const text = `update ${table.name} set ${sets}, version = version + 1 where id = $1 and version = $2`;
    const values = changing.map((name) => bound(typeOf(table, name), row[name]));
    const { rowCount } = await run(client, text, [id, version, ...values]);
    if (rowCount !== 1) throw new Error(`${id} has changed`);
  }
  for (const { table, row } of set.inserts) {
    const values = table.columnNames.map((name) => bound(typeOf(table, name), row[name]));
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
const MOVE = `update ledger_accounts a set balance = a.balance + x.net
  from unnest($1::text[], $2::bigint[]) x(id, net)
  where a.id = x.id and (a.floor is null or a.balance - a.held + x.net >= a.floor)
  returning a.id, a.balance, a.held`;

interface Holding {
  balance: bigint;
  held: bigint;
}

/** Writes the transfers and moves the balances; answers what the accounts hold then. */
async function writeTransfers(
  client: pg.PoolClient,
  transfers: readonly TransferRow[],
): Promise<Map<string, Holding>> {
  const rows = transfers.map((each) =>
    TRANSFER_COLUMNS.map((name) => bound(name === 'created_at' ? 'time' : 'text', each[name])),
  );
  await insert(client, 'ledger_transfers', TRANSFER_COLUMNS, rows);
  const nets = new Map<string, bigint>();
  for (const { phase, debit, credit, amount } of transfers) {
    if (phase !== 'posted') throw new Error(`the peer does not know ${phase}`);
    nets.set(debit, (nets.get(debit) ?? 0n) - amount);
    nets.set(credit, (nets.get(credit) ?? 0n) + amount);
  }
  await run(client, LOCK, [[...nets.keys()]]);
  const moved = await run(client, MOVE, [[...nets.keys()], [...nets.values()]]);
  if (moved.rowCount !== nets.size) throw new Error('not enough money');
  return new Map(moved.rows.map((row) => [row.id as string, row as Holding]));
}

const EVENT_COLUMNS = [
  'id',
  'platform_id',
  'type',
  'subject',
  'data',
  'account',
  'created_at',
  'due_at',
] as const satisfies readonly (keyof EventRow)[];

async function writeEvents(
  client: pg.PoolClient,
  events: readonly EventRow[],
  holdings: ReadonlyMap<string, Holding>,
): Promise<void> {
  const rows = events.map((each) => {
    const holding = each.account === null ? undefined : holdings.get(each.account);
    const values = EVENT_COLUMNS.map((name) =>
      bound(name.endsWith('_at') ? 'time' : 'text', each[name]),
    );
    return [...values, holding?.balance ?? null, holding?.held ?? null];
  });
  await insert(client, 'events', [...EVENT_COLUMNS, 'balance', 'held'], rows);
}

async function execute(
  client: pg.PoolClient,
  caller: Caller,
  quoteId: string,
  key: string,
): Promise<string> {
  await client.query('begin');
  const ctx = createContext({ world, db: readerOf(client), vault }, caller);
  const input = { params: { quoteId }, query: {}, headers: {}, body: {} };
  const result = await operation?.run(ctx, input as never);
  if (!result || 'refused' in result) throw new Error('the quote was not executed');
  const reply = JSON.stringify(result.body);
  await writeRows(client, ctx.set);
  const kept = [`${caller.platformId} ${quoteId} ${key}`, '', result.status, reply];
  const columns = ['id', 'body_hash', 'status', 'reply', 'created_at'];
  await insert(client, 'idempotency', columns, [[...kept, new Date(ctx.now)]]);
  const holdings = await writeTransfers(client, ctx.set.transfers);
  await writeEvents(client, ctx.set.events, holdings);
  await client.query('commit');
  return reply;
}

let open: { pool: pg.Pool; server: FastifyInstance } | undefined;

async function close(): Promise<void> {
  await open?.server.close();
  await open?.pool.end();
  open = undefined;
}

/** Listens with a pool of this size; answers the port. */
async function listen(options: PeerOptions): Promise<number> {
  await close();
  const { url, poolSize, platformId, authorization } = options;
  const caller: Caller = {
    platformId,
    environment: 'sandbox',
    tokenId: null,
    permissions: ['VIEW', 'TRANSACT', 'MANAGE'],
  };
  const pool = new pg.Pool({ connectionString: url, max: poolSize, min: poolSize, types });
  pool.on('connect', (client) => void client.query("set timezone = 'UTC'"));
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.post('/2025-10-13/quotes/:quoteId/execute', async (request, reply) => {
    if (request.headers.authorization !== authorization) return reply.code(401).send();
    const { quoteId } = request.params as { quoteId: string };
    const client = await pool.connect();
    try {
      const key = String(request.headers['idempotency-key']);
      const body = await execute(client, caller, quoteId, key);
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    } catch (error) {
      await client.query('rollback');
      return reply.code(500).send(String(error));
    } finally {
      client.release();
    }
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  open = { pool, server };
  return (server.server.address() as AddressInfo).port;
}

answer({ listen, close });
