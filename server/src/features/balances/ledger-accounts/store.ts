// The ledger's table as operations see it. Balances are written by the committer alone; operations only
// open accounts and read what they hold.
import { col, table } from '../../../runtime/db/table.ts';

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
