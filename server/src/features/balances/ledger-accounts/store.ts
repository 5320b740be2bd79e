// The ledger's table as operations see it. Balances are written by the committer alone; operations only
// open accounts and read what they hold.

import type { Time } from '../../../kernel/world.ts';
import { houseAccounts } from '../../../ledger/chart.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';

export const ledgerAccounts = table('ledger_accounts', {
  id: col.text,
  currency: col.text,
  /** Everything posted, smallest units. */
  balance: col.int8,
  /** Set aside by pending transfers; what can be spent is `balance - held`. */
  held: col.int8,
  /** Spendable may not fall below it; null for accounts of the house. */
  floor: col.int8.null,
  /** Nothing new moves out of it or in; changed by `ctx.gate`. Never an account of the house. */
  shut: col.bool,
  created_at: col.time,
});

export type LedgerAccountRow = RowOf<typeof ledgerAccounts>;

/** One account by id, read together with those that concurrent callers ask for. */
export const readLedgerAccount = (
  reader: Reader,
  id: string,
): Promise<LedgerAccountRow | undefined> => reader.read(ledgerAccounts, id);

/** Stages a new account that holds nothing. A null floor is of the house. */
export const openLedgerAccount = (
  ctx: Ctx,
  { shut = false, ...of }: Pick<LedgerAccountRow, 'id' | 'currency' | 'floor'> & { shut?: boolean },
): LedgerAccountRow =>
  ctx.insert(ledgerAccounts, {
    ...{ ...of, shut },
    ...{ balance: 0n, held: 0n, created_at: ctx.now },
  });

const OPEN_SYSTEM = `insert into ledger_accounts (id, currency, created_at)
  select id, currency, $3 from unnest($1::text[], $2::text[]) as account(id, currency)
  on conflict (id) do nothing`;

/** Opens the system accounts of these currencies that are not there yet. */
export async function openSystemAccounts(
  db: Pick<Database, 'query'>,
  currencies: readonly { code: string }[],
  now: Time,
): Promise<void> {
  const accounts = houseAccounts(currencies.map(({ code }) => code));
  const columns = [accounts.map((each) => each.id), accounts.map((each) => each.currency)];
  await db.query(OPEN_SYSTEM, [...columns, new Date(now)]);
}
