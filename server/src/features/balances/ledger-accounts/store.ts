// The table of ledger accounts. Only the committer writes balances. Operations open accounts and
// read them.

import type { Time } from '../../../kernel/effects.ts';
import { systemAccounts } from '../../../ledger/chart.ts';
import {
  type LedgerAccountRow,
  ledgerAccounts,
  openAccounts,
} from '../../../runtime/committer/ledger-accounts.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';

/** Reads by ID. Concurrent reads are batched. */
export const readLedgerAccount = (
  reader: Reader,
  id: string,
): Promise<LedgerAccountRow | undefined> => reader.read(ledgerAccounts, id);

/** Stages an empty account. The floor of a system account is null. */
export const openLedgerAccount = (
  ctx: Ctx,
  {
    frozen = false,
    ...account
  }: Pick<LedgerAccountRow, 'id' | 'currency' | 'floor'> & { frozen?: boolean },
): LedgerAccountRow =>
  ctx.insert(ledgerAccounts, {
    ...{ ...account, frozen },
    ...{ balance: 0n, held: 0n, created_at: ctx.now },
  });

/** Opens the missing system accounts of these currencies. */
export const openSystemAccounts = (
  db: Pick<Database, 'query'>,
  currencies: readonly { code: string }[],
  now: Time,
): Promise<void> => openAccounts(db, systemAccounts(currencies.map(({ code }) => code)), now);
