// The context of an operation, with reads and a change set. A context is used for one attempt of one
// operation. Staged changes take effect when the committer writes them. Changes of the same row merge, so a
// function may change a row that another function has already staged.
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Caller } from '../../kernel/caller.ts';
import type { EventDefinition } from '../../kernel/contract/event.ts';
import type { JobDefinition } from '../../kernel/contract/job.ts';
import { type Effects, iso, type Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Id, newId } from '../../kernel/id.ts';
import type { Money } from '../../kernel/money.ts';
import { PHASE_OF, type TransferVerb } from '../../ledger/transfer.ts';
import type { PlatformTime } from '../clocks/clocks.ts';
import { type ChangeSet, emptyChangeSet, type Row } from '../committer/change-set.ts';
import type { Database } from '../db/database.ts';
import {
  assertTransition,
  type NewRowOf,
  type PatchOf,
  type RowOf,
  statesOf,
  type Table,
} from '../db/table.ts';
import { dueAt, jobs } from '../jobs/jobs-table.ts';
import type { DataKey, Vault } from '../security/vault.ts';
import { createEventStaging, type DescribedRow } from './event-staging.ts';

/** A transfer to stage: an amount above zero, in the currency of both accounts. */
export interface TransferInput extends Money {
  transactionId: string;
  /**
   * Name of the posting, unique within the transaction. Only `post` or `void` uses the step of a
   * hold again, once.
   */
  step: string;
  debit: string;
  credit: string;
  /**
   * Whether the transfer applies even if one of the accounts is frozen, as for a refund or a debt.
   */
  force?: boolean;
  /** Fault if the debit account cannot pay the amount. Defaults to INSUFFICIENT_FUNDS. */
  insufficientFundsFault?: () => Fault;
  /** If the debit account cannot pay the amount, the operation runs again with fresh reads. */
  retryOnInsufficientFunds?: boolean;
}

export interface Ctx {
  readonly effects: Effects;
  readonly db: Database;
  /** Seals and opens personal data. */
  readonly vault: Vault;
  readonly caller: Caller;
  /**
   * The time of this attempt on the clock of the caller's platform. All rows of one change set
   * share it. Real time, for limits and external tokens, is `effects.now()`.
   */
  readonly now: Time;
  /** Whether the platform has a separate clock. */
  readonly ownClock: boolean;
  readonly set: ChangeSet;
  /** Faults that transfers define for an account that cannot pay. */
  readonly insufficientFundsFaults: ReadonlyMap<string, () => Fault>;
  /** Accounts whose lack of funds or freeze causes the operation to run again. */
  readonly retryAccounts: ReadonlySet<string>;
  id<R extends string>(resource: R): Id<R>;
  /** Reads a row by ID, together with the rows that concurrent callers request. */
  read<T extends Table>(table: T, id: string): Promise<RowOf<T> | undefined>;
  insert<T extends Table>(table: T, row: NewRowOf<T>): RowOf<T>;
  /**
   * Stages a change of a row as read. The commit fails if the row has changed since. Throws if the
   * lifecycle of the table has no such transition.
   */
  update<T extends Table>(table: T, row: RowOf<T>, patch: PatchOf<T>): RowOf<T>;
  remove<T extends Table>(table: T, row: RowOf<T>): void;
  /** Requires a row as read. The commit fails if the row has changed since. */
  require<T extends Table>(table: T, row: RowOf<T>): void;
  /** Posts an amount from the debit to the credit account. */
  transfer(transfer: TransferInput): void;
  /** Holds an amount on the debit account, for the credit account. */
  hold(transfer: TransferInput): void;
  /** Posts the funds that `hold` of the same step reserved. */
  post(transfer: TransferInput): void;
  /** Releases to the debit account the funds that `hold` of the same step reserved. */
  void(transfer: TransferInput): void;
  /**
   * Freezes a ledger account after the transfers of the change set are written. With `empty`, the commit is
   * rejected unless balance and holds are then zero.
   */
  freeze(accountId: string, options?: { empty?: boolean }): void;
  unfreeze(accountId: string): void;
  /** Stages an event. `account` names the ledger account whose balance the event shows. */
  emit<S extends TSchema>(
    event: EventDefinition<S>,
    subject: string,
    data: Static<S>,
    account?: string,
  ): void;
  /**
   * Stages an event with the balance of `account`. All other data is rendered only from the committed
   * `row`. A later event of the same version may store only a reference to that data.
   */
  emitVersion<S extends TSchema>(
    event: EventDefinition<S>,
    row: DescribedRow,
    account: string,
    data: () => Static<S>,
  ): void;
  /**
   * Stages an event with personal data, sealed under a customer's key until it is sent. An erased
   * customer has no key and no personal data, so its event is stored in clear text.
   */
  emitSealed<S extends TSchema>(
    key: DataKey | undefined,
    event: EventDefinition<S>,
    subject: string,
    data: Static<S>,
  ): void;
  /** Stages an event that a separate job delivers. Returns the ID of the event. */
  record<S extends TSchema>(event: EventDefinition<S>, subject: string, data: Static<S>): string;
  /**
   * Runs `work`. If it throws a fault, all its staged changes are discarded and the fault is
   * returned. If the commit rejects a staged transfer because of funds or a freeze, the operation
   * runs again, unless a transfer defines a fault for the account.
   */
  attempt<R>(work: () => Promise<R>): Promise<R | Fault>;
  /** Stages a job to run after the commit, at `at` or immediately. */
  later<S extends TObject>(job: JobDefinition<S>, input: Static<S>, at?: Time): void;
}

/** Reads rows by ID, in a context or in the database outside of operations. */
export type Reader = Pick<Ctx, 'read'>;

/** Staged state of a context. */
interface StagedWork {
  set: ChangeSet;
  /** Rows that are inserted or changed, by table and ID. */
  stagedRows: Map<string, Row>;
  insufficientFundsFaults: Map<string, () => Fault>;
  retryAccounts: Set<string>;
}

/** Saves the staged state. The returned function restores it. */
function savepoint({
  set,
  stagedRows,
  insufficientFundsFaults,
  retryAccounts,
}: StagedWork): () => void {
  const lists: unknown[][] = Object.values(set);
  const lengths = lists.map((list) => list.length);
  const rows = [...stagedRows].map(([key, row]) => ({ key, row, previousRow: { ...row } }));
  const [faults, accounts] = [[...insufficientFundsFaults], [...retryAccounts]];
  return () => {
    for (const [index, list] of lists.entries()) list.length = lengths[index] as number;
    stagedRows.clear();
    insufficientFundsFaults.clear();
    retryAccounts.clear();
    for (const { key, row, previousRow } of rows)
      stagedRows.set(key, Object.assign(row, previousRow));
    for (const [account, fault] of faults) insufficientFundsFaults.set(account, fault);
    for (const account of accounts) retryAccounts.add(account);
  };
}

/** Implements `ctx.attempt`. */
const createAttempt =
  (stagedWork: StagedWork) =>
  async <R>(work: () => Promise<R>): Promise<R | Fault> => {
    const { set, insufficientFundsFaults, retryAccounts } = stagedWork;
    const rollBack = savepoint(stagedWork);
    const transferCount = set.transfers.length;
    try {
      const result = await work();
      const accounts = set.transfers
        .slice(transferCount)
        .flatMap(({ debit, credit }) => [debit, credit]);
      // The operation does not run again because of a transfer with a separate fault, such as a limit.
      for (const account of accounts)
        if (!insufficientFundsFaults.has(account)) retryAccounts.add(account);
      return result;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      rollBack();
      return error;
    }
  };

/** Creates a context without reads and staged changes. `now` is the time of the platform of the caller. */
export function createContext(
  { effects, db, vault, ids }: Pick<Ctx, 'effects' | 'db' | 'vault'> & { ids?(): Effects },
  caller: Caller,
  { now, ownClock }: PlatformTime,
): Ctx {
  const idSource = ids?.() ?? effects;
  const set = emptyChangeSet();
  const stagedRows = new Map<string, Row>();
  /** Changed columns of staged updates, by table and ID. */
  const changes = new Map<string, Set<string>>();
  const insufficientFundsFaults = new Map<string, () => Fault>();
  const retryAccounts = new Set<string>();
  const eventStaging = createEventStaging({ effects, db, vault, caller, now, ownClock, set });
  const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;
  const rowVersionOf = (table: Table, row: Row) => ({
    table,
    id: row.id as string,
    version: row.version as number,
  });

  function insert<T extends Table>(table: T, values: NewRowOf<T>): RowOf<T> {
    const row: Row = { ...values };
    if (table.versioned) row.version = 1;
    for (const name of table.columnNames) if (row[name] === undefined) row[name] = null;
    set.inserts.push({ table, row });
    stagedRows.set(keyOf(table, row.id), row);
    return row as RowOf<T>;
  }

  function update<T extends Table>(table: T, previous: RowOf<T>, patch: PatchOf<T>): RowOf<T> {
    const key = keyOf(table, previous.id);
    const stagedRow = stagedRows.get(key);
    const states = statesOf(table, stagedRow ?? previous);
    if (stagedRow) {
      assertTransition(table, states, Object.assign(stagedRow, patch));
      for (const name of Object.keys(patch)) changes.get(key)?.add(name);
      return stagedRow as RowOf<T>;
    }
    const row: Row = { ...previous, ...patch };
    assertTransition(table, states, row);
    const changedColumns = new Set(Object.keys(patch));
    set.updates.push({
      ...rowVersionOf(table, previous),
      previousRow: previous,
      row,
      changedColumns,
    });
    changes.set(key, changedColumns);
    stagedRows.set(key, row);
    return row as RowOf<T>;
  }

  function stageTransfer(
    verb: TransferVerb,
    {
      transactionId,
      step,
      insufficientFundsFault,
      retryOnInsufficientFunds,
      ...options
    }: TransferInput,
  ): void {
    const transaction_id = transactionId;
    const phase = PHASE_OF[verb];
    set.transfers.push({ transaction_id, step, phase, ...options, created_at: now });
    if (insufficientFundsFault) insufficientFundsFaults.set(options.debit, insufficientFundsFault);
    if (retryOnInsufficientFunds) retryAccounts.add(options.debit);
  }

  return {
    effects,
    db,
    vault,
    caller,
    now,
    ownClock,
    set,
    insufficientFundsFaults,
    retryAccounts,
    id: (resource) => newId(idSource, resource),
    read: (table, id) => db.read(table, id),
    insert,
    update,
    remove: (table, row) =>
      void set.removes.push({ ...rowVersionOf(table, row), previousRow: row }),
    require: (table, row) => void set.requires.push(rowVersionOf(table, row)),
    transfer: (transfer) => stageTransfer('transfer', transfer),
    hold: (transfer) => stageTransfer('hold', transfer),
    post: (transfer) => stageTransfer('post', transfer),
    void: (transfer) => stageTransfer('void', transfer),
    freeze: (account, { empty = false } = {}) =>
      void set.freezes.push({ account, frozen: true, empty }),
    unfreeze: (account) => void set.freezes.push({ account, frozen: false, empty: false }),
    ...eventStaging,
    attempt: createAttempt({ set, stagedRows, insufficientFundsFaults, retryAccounts }),
    later: ({ kind }, input, at = now) =>
      void insert(jobs, {
        id: newId(effects, 'Job'),
        kind,
        platform_id: caller.platformId,
        input,
        ...dueAt({ now: at, ownClock }),
        attempts: 0,
        state: 'queued',
      }),
  };
}

/** The times of creation and last change, in the form that all resources share. */
export const timestamps = (row: { created_at: Time; updated_at: Time }) => ({
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});
