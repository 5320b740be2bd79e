// The ledger's table as operations see it. Balances are written by the committer alone; operations only
// open accounts and read what they hold.

import type { Time } from '../../../kernel/effects.ts';
import { systemAccounts } from '../../../ledger/chart.ts';
import {
  type LedgerAccountRow,
  ledgerAccounts,
  openAccounts,
} from '../../../runtime/committer/ledger-accounts.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';

/** One account by id, read together with those that concurrent callers ask for. */
export const readLedgerAccount = (
  reader: Reader,
  id: string,
): Promise<LedgerAccountRow | undefined> => reader.read(ledgerAccounts, id);

/** Stages a new account that holds nothing. A null floor is of the house. */
export const openLedgerAccount = (
  ctx: Ctx,
  {
    frozen = false,
    ...of
  }: Pick<LedgerAccountRow, 'id' | 'currency' | 'floor'> & { frozen?: boolean },
): LedgerAccountRow =>
  ctx.insert(ledgerAccounts, {
    ...{ ...of, frozen },
    ...{ balance: 0n, held: 0n, created_at: ctx.now },
  });

/** Opens the system accounts of these currencies that are not there yet. */
export const openSystemAccounts = (
  db: Pick<Database, 'query'>,
  currencies: readonly { code: string }[],
  now: Time,
): Promise<void> => openAccounts(db, systemAccounts(currencies.map(({ code }) => code)), now);
