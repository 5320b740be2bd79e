// A database with a few tables that no feature owns, for the tests of the modules below the
// features.
import pg from 'pg';
import type { TransferRow } from '../../../src/ledger/transfer.ts';
import type { ChangeSet, EventRow } from '../../../src/runtime/committer/change-set.ts';
import { emptyChangeSet } from '../../../src/runtime/committer/change-set.ts';
import { col, type RowOf, table } from '../../../src/runtime/db/table.ts';
import { createTestDatabase } from './database.ts';

/** One column of every type. */
export const things = table('things', {
  id: col.text,
  name: col.text.null.mut,
  rank: col.int4.mut,
  amount: col.int8.mut,
  flag: col.bool.mut,
  note: col.json<unknown>().null.mut,
  raw: col.bytes.null.mut,
  created_at: col.time,
  version: col.int4,
});

export const clientKeys = table(
  'client_keys',
  { id: col.text, reply: col.text, created_at: col.time },
  { clientKeyed: true },
);

const TABLES = `
create table things (
  id text collate "C" primary key,
  name text,
  rank integer not null,
  amount bigint not null,
  flag boolean not null,
  note json,
  raw bytea,
  created_at timestamptz not null,
  version integer not null,
  constraint things_name unique (name),
  constraint things_rank check (rank < 1000)
);
create table client_keys (
  id text collate "C" primary key,
  reply text not null,
  created_at timestamptz not null
);`;

export const NOW = Date.UTC(2026, 0, 5, 9, 0, 0);

export interface Sample {
  url: string;
  /** Runs SQL directly, outside the code under test. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Opens a ledger account. `floor` null means no floor. */
  account(id: string, balance: bigint, floor?: bigint | null, currency?: string): Promise<void>;
  /**
   * Opens accounts in USD with these balances and a floor of zero. Null opens an empty account
   * without a floor.
   */
  accounts(...balances: (bigint | null)[]): Promise<string[]>;
  /** `balance/held` of each account. */
  holdings(...ids: string[]): Promise<string[]>;
  thing(id: string, overrides?: Partial<RowOf<typeof things>>): Promise<RowOf<typeof things>>;
  drop(): Promise<void>;
}

export const thingRow = (
  id: string,
  overrides: Partial<RowOf<typeof things>> = {},
): RowOf<typeof things> => ({
  id,
  name: null,
  rank: 0,
  amount: 0n,
  flag: false,
  note: null,
  raw: null,
  created_at: NOW,
  version: 1,
  ...overrides,
});

let idCount = 0;

/** An ID that is unique in the file. */
export const newId = (kind: string) => `${kind}:${++idCount}`;

export async function createSample(): Promise<Sample> {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url, pipeline: true });
  await client.connect();
  await client.query(TABLES);
  const sql: Sample['sql'] = async (text, values) => (await client.query(text, values)).rows;
  const account: Sample['account'] = async (id, balance, floor = 0n, currency = 'USD') => {
    await sql(
      `insert into ledger_accounts(id, currency, balance, floor, created_at)
        values ($1, $2, $3, $4, $5)`,
      [id, currency, balance, floor, new Date(NOW)],
    );
  };
  return {
    url: database.url,
    sql,
    account,
    async accounts(...balances) {
      const accountIds = balances.map(() => newId('account'));
      for (const [index, id] of accountIds.entries()) {
        const balance = balances[index] ?? null;
        await account(id, balance ?? 0n, balance === null ? null : 0n);
      }
      return accountIds;
    },
    async holdings(...ids) {
      const rows = await sql('select id, balance, held from ledger_accounts where id = any($1)', [
        ids,
      ]);
      const holdingsById = new Map(rows.map((row) => [row.id, `${row.balance}/${row.held}`]));
      return ids.map((id) => holdingsById.get(id) ?? '');
    },
    async thing(id, overrides = {}) {
      const row = thingRow(id, overrides);
      const { name, rank, amount, flag, note, raw, version } = row;
      await sql('insert into things values ($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
        id,
        name,
        rank,
        amount,
        flag,
        note === null ? null : JSON.stringify(note),
        raw,
        new Date(row.created_at),
        version,
      ]);
      return row;
    },
    async drop() {
      await client.end();
      await database.drop();
    },
  };
}

/** A change set with these parts. */
export const setOf = (parts: Partial<ChangeSet>): ChangeSet => ({ ...emptyChangeSet(), ...parts });

let transferCount = 0;

/** A transfer in USD with a unique key. */
export const transfer = (
  debit: string,
  credit: string,
  amount: bigint,
  overrides: Partial<TransferRow> = {},
): TransferRow => ({
  transaction_id: `Transaction:${++transferCount}`,
  step: 'pay',
  phase: 'posted',
  debit,
  credit,
  currency: 'USD',
  amount,
  created_at: NOW,
  ...overrides,
});

export const insertThing = (row: RowOf<typeof things>) => ({ table: things, row });

export const updateThing = (row: RowOf<typeof things>, patch: Partial<RowOf<typeof things>>) => ({
  table: things,
  id: row.id,
  version: row.version,
  row: { ...row, ...patch },
  changedColumns: new Set(Object.keys(patch)),
});

export const thingAt = (row: RowOf<typeof things>) => ({
  table: things,
  id: row.id,
  version: row.version,
});

export const insertKey = (id: string, reply = '{}') => ({
  table: clientKeys,
  row: { id, reply, created_at: NOW },
});

/** Result of `Promise.allSettled` for an accepted change set. */
export const ok = { status: 'fulfilled', value: { ok: true } };

/** Result of `Promise.allSettled` for a rejected change set. */
export const rejectedWith = (reason: object) => ({
  status: 'fulfilled',
  value: { ok: false, rejection: reason },
});

export const eventAbout = (account: string | null): EventRow => ({
  id: newId('Webhook'),
  platform_id: 'Platform:1',
  type: 'TEST',
  subject: 'Test:1',
  data: '{}',
  account,
  created_at: NOW,
  delivered: false,
});
