// Statements for the postings of a batch: the writes, and the reads for validation.
import {
  type Account,
  type Books,
  type StoredTransfer,
  sumOf,
  transferKey,
} from '../../ledger/books.ts';
import { resolves, storedStep, type TransferRow } from '../../ledger/transfer.ts';
import type { TextRow } from '../db/lane.ts';
import { type Bound, bind } from '../db/statement.ts';
import type { ChangeSet } from './change-set.ts';
import { type BatchRead, column, columns } from './columns.ts';
import {
  EFFECT_NAMES,
  FREEZE_NAMES,
  INSERT_TRANSFERS,
  LOCK_ACCOUNTS,
  MATCH_ACCOUNTS,
  MATCH_PENDING,
  NAMED_NAMES,
  PENDING_NAMES,
  POST_BALANCES,
  READ_ACCOUNTS,
  READ_TRANSFERS,
  SET_FREEZES,
  TRANSFER_NAMES,
} from './ledger-statements.ts';

/** The ledger state that validation has read. */
interface LedgerState {
  books: Books;
}

function transferWrites(transfers: readonly TransferRow[]): Bound[] {
  if (transfers.length === 0) return [];
  const bounds = [
    bind(
      INSERT_TRANSFERS,
      ...TRANSFER_NAMES.map((name) =>
        name === 'step' ? transfers.map(storedStep) : column(transfers, name),
      ),
    ),
  ];
  const resolutions = transfers.filter(resolves);
  if (resolutions.length) bounds.push(bind(MATCH_PENDING, ...columns(resolutions, PENDING_NAMES)));
  return bounds;
}

/**
 * The statements that write the postings. Undefined if the postings need validation before they are
 * written. Unchanged accounts of a posting are checked while the other accounts are locked and before
 * freezes are set. A freeze of another batch is therefore either visible or serialized after this batch.
 */
export function postingWrites(sets: readonly ChangeSet[]): Bound[] | undefined {
  const sum = sumOf(sets);
  if (!sum) return undefined;
  const { effects, named, freezes } = sum;
  if (effects.length + freezes.length === 0) return [];
  const bounds = transferWrites(sets.flatMap((set) => set.transfers));
  const lockedIds = freezes.length
    ? new Set([...effects, ...freezes].map(({ id }) => id))
    : undefined;
  bounds.push(bind(LOCK_ACCOUNTS, lockedIds ? [...lockedIds] : column(effects, 'id')));
  if (named.length) bounds.push(bind(MATCH_ACCOUNTS, ...columns(named, NAMED_NAMES)));
  if (effects.length) bounds.push(bind(POST_BALANCES, ...columns(effects, EFFECT_NAMES)));
  if (freezes.length) bounds.push(bind(SET_FREEZES, ...columns(freezes, FREEZE_NAMES)));
  return bounds;
}

/** A row of READ_TRANSFERS. */
type TransferColumns = [
  phase: StoredTransfer['phase'],
  transactionId: string,
  step: string,
  debit: string,
  credit: string,
  currency: string,
  amount: string,
];

/** A row of READ_ACCOUNTS. */
type AccountColumns = [
  id: string,
  currency: string,
  balance: string,
  held: string,
  floor: string | null,
  frozen: string,
];

function readTransfers(rows: readonly TextRow[], { books }: LedgerState): void {
  for (const row of rows as TransferColumns[]) {
    const [phase, transactionId, step, debit, credit, currency, amount] = row;
    const storedTransfer = { phase, debit, credit, currency, amount: BigInt(amount) };
    books.transfers.set(transferKey(transactionId, step), storedTransfer);
  }
}

function readAccounts(rows: readonly TextRow[], { books }: LedgerState): void {
  for (const [id, currency, balance, held, floor, frozen] of rows as AccountColumns[]) {
    books.accounts.set(id, {
      currency,
      balance: BigInt(balance),
      held: BigInt(held),
      floor: floor === null ? null : BigInt(floor),
      frozen: frozen === 't',
    });
  }
}

/**
 * Statements that read the transfers, and lock and read the accounts, of the postings and freezes.
 */
export function postingReads(sets: readonly ChangeSet[]): BatchRead<LedgerState>[] {
  const transfers = sets.flatMap((set) => set.transfers);
  const freezes = sets.flatMap((set) => set.freezes);
  if (transfers.length + freezes.length === 0) return [];
  const transferKeys = transfers.flatMap((each) => {
    const newTransferKey = { id: each.transaction_id, step: storedStep(each) };
    return resolves(each)
      ? [newTransferKey, { id: each.transaction_id, step: each.step }]
      : [newTransferKey];
  });
  const accounts = new Set([
    ...transfers.flatMap((each) => [each.debit, each.credit]),
    ...freezes.map((each) => each.account),
  ]);
  return [
    { bound: bind(READ_TRANSFERS, ...columns(transferKeys, ['id', 'step'])), read: readTransfers },
    { bound: bind(READ_ACCOUNTS, [...accounts]), read: readAccounts },
  ];
}

/** The ledger accounts among the inserted rows, by ID. */
export function openedAccounts({ inserts }: ChangeSet): Map<string, Account> {
  const newAccounts = new Map<string, Account>();
  for (const { table, row } of inserts) {
    if (table.name !== 'ledger_accounts') continue;
    newAccounts.set(row.id as string, {
      currency: row.currency as string,
      balance: (row.balance as bigint | undefined) ?? 0n,
      held: (row.held as bigint | undefined) ?? 0n,
      floor: (row.floor as bigint | null | undefined) ?? null,
      frozen: row.frozen === true,
    });
  }
  return newAccounts;
}
