// Accounts of the ledger: their table, and the two functions that open accounts or set their floors outside
// a batch. Everything else about them is written by the committer with the postings.
import type { Time } from '../../kernel/effects.ts';
import { pgArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import { type BasisTable, floorsSql, OPEN_ACCOUNTS } from './ledger-statements.ts';

export const ledgerAccounts = table('ledger_accounts', {
  id: col.text,
  currency: col.text,
  /** Everything posted, smallest units. */
  balance: col.int8,
  /** Set aside by pending transfers; what can be spent is `balance - held`. */
  held: col.int8,
  /** Spendable may not fall below it; null for accounts of the house. */
  floor: col.int8.null,
  /** No new transfer from it or to it. Set by `ctx.freeze`, `ctx.unfreeze`; never of a system account. */
  frozen: col.bool,
  created_at: col.time,
});

export type LedgerAccountRow = RowOf<typeof ledgerAccounts>;

/** Opens those of the accounts that are not there yet, without a floor. */
export async function openAccounts(
  db: Pick<Database, 'query'>,
  accounts: readonly { id: string; currency: string }[],
  now: Time,
): Promise<void> {
  const columns = [accounts.map((each) => each.id), accounts.map((each) => each.currency)];
  await db.query(OPEN_ACCOUNTS, [...columns, new Date(now)]);
}

/** The row that floors are taken from, as it was read. */
export interface FloorBasis {
  /** The table that it is in, from the feature whose table it is. */
  table: BasisTable;
  id: string;
  version: number;
}

/**
 * Opens accounts with these floors, or sets the floors of those that are there, never above what an account
 * holds now. With a `basis` its row is locked, and nothing is done where it has changed since it was read.
 * Returns the accounts that were opened or changed, with their floors.
 */
export function setFloors(
  db: Pick<Database, 'query'>,
  accounts: readonly { id: string; currency: string; floor: bigint | null }[],
  now: Time,
  basis?: FloorBasis,
): Promise<{ id: string; floor: bigint | null }[]> {
  const floors = accounts.map((each) => each.floor);
  return db.query(floorsSql(basis?.table), [
    accounts.map((each) => each.id),
    accounts.map((each) => each.currency),
    pgArray('int8', floors),
    new Date(now),
    ...(basis ? [basis.id, basis.version] : []),
  ]);
}
