// The table of ledger accounts, and the two functions that open accounts or set their floors
// outside a batch. Except for a reset, the committer writes all other changes.
import type { Time } from '../../kernel/effects.ts';
import { pgArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import { type BasisTable, floorsSql, OPEN_ACCOUNTS } from './ledger-statements.ts';

export const ledgerAccounts = table('ledger_accounts', {
  id: col.text,
  currency: col.text,
  /** Sum of all postings, in minor units. */
  balance: col.int8,
  /** Reserved by pending transfers. Available is `balance - held`. */
  held: col.int8,
  /**
   * Minimum of the available balance. Null for system accounts, and for velocity counts without a
   * limit.
   */
  floor: col.int8.null,
  /**
   * Blocks new transfers without `force` in both directions. Set by `ctx.freeze` and
   * `ctx.unfreeze`. False for a system account.
   */
  frozen: col.bool,
  created_at: col.time,
});

export type LedgerAccountRow = RowOf<typeof ledgerAccounts>;

/** Opens the accounts that do not exist yet, without a floor. */
export async function openAccounts(
  db: Pick<Database, 'query'>,
  accounts: readonly { id: string; currency: string }[],
  now: Time,
): Promise<void> {
  const columns = [accounts.map((each) => each.id), accounts.map((each) => each.currency)];
  await db.query(OPEN_ACCOUNTS, [...columns, new Date(now)]);
}

/** The row from which the floors are derived, as read. */
export interface FloorBasis {
  /** The table of the row, which its feature provides. */
  table: BasisTable;
  id: string;
  version: number;
}

/**
 * Opens accounts with these floors, or sets the floors of existing accounts, at most to the current
 * available balance. With a `basis`, its row is locked, and floors are set only if the row is unchanged
 * since it was read. Returns the accounts that were opened or changed, with their floors.
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
