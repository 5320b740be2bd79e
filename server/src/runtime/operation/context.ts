// The context of an operation: reads, and a change set to stage into. A context is used for one
// attempt of one operation. Nothing staged takes effect before the committer writes it. Staging the
// same row twice merges, so a function may change a row that another function has already staged.
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
import { type DescribedRow, eventStaging } from './event-staging.ts';

/** A transfer to stage: an amount above zero, in the currency of both accounts. */
export interface TransferInput extends Money {
  transactionId: string;
  /** Unique within the transaction. A second posting of it is rejected. */
  step: string;
  debit: string;
  credit: string;
  /** Applies although one of the accounts is frozen: a refund or a debt. */
  force?: boolean;
  /** Fault if the debit account cannot pay this. Default INSUFFICIENT_FUNDS. */
  insufficientFundsFault?: () => Fault;
  /** If the debit account cannot pay this, the operation runs once more with fresh reads. */
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
  /** Whether the platform has its own clock. */
  readonly ownClock: boolean;
  readonly set: ChangeSet;
  /** Faults of transfers that define one, for an account that cannot pay. */
  readonly insufficientFundsFaults: ReadonlyMap<string, () => Fault>;
  /** Accounts whose lack of funds or freeze causes the operation to run once more. */
  readonly retryAccounts: ReadonlySet<string>;
  id<R extends string>(resource: R): Id<R>;
  /** One row by id, read together with the rows that concurrent callers request. */
  read<T extends Table>(table: T, id: string): Promise<RowOf<T> | undefined>;
  insert<T extends Table>(table: T, row: NewRowOf<T>): RowOf<T>;
  /**
   * Stages a change of a row as it was read. The commit fails if it has changed since. Throws if
   * the lifecycle of the table has no such transition.
   */
  update<T extends Table>(table: T, row: RowOf<T>, patch: PatchOf<T>): RowOf<T>;
  remove<T extends Table>(table: T, row: RowOf<T>): void;
  /** The decision depends on this row as read: the commit fails if it has changed since. */
  require<T extends Table>(table: T, row: RowOf<T>): void;
  /** Posts an amount from the debit to the credit account. */
  transfer(transfer: TransferInput): void;
  /** Holds an amount on the debit account, for the credit account. */
  hold(transfer: TransferInput): void;
  /** Posts the funds that `hold` of the same step reserved. */
  post(transfer: TransferInput): void;
  /** Releases the funds that `hold` of the same step reserved to the debit account. */
  void(transfer: TransferInput): void;
  /**
   * Freezes a ledger account after the transfers of the change set are written. `empty` rejects the
   * commit unless its balance and its holds are zero then.
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
   * Stages an event with the balance of `account`, whose other data is rendered from `row` only, as
   * committed. It is stored once for each version of the row.
   */
  emitVersion<S extends TSchema>(
    event: EventDefinition<S>,
    row: DescribedRow,
    account: string,
    data: () => Static<S>,
  ): void;
  /**
   * Emits an event with personal data, sealed under a customer's key until it is sent. The key is
   * undefined for an erased customer, and no event is staged.
   */
  emitSealed<S extends TSchema>(
    key: DataKey | undefined,
    event: EventDefinition<S>,
    subject: string,
    data: Static<S>,
  ): void;
  /** Stages an event that a separate job delivers. Returns its id. */
  record<S extends TSchema>(event: EventDefinition<S>, subject: string, data: Static<S>): string;
  /**
   * Runs `work`. If it throws a fault, everything that it staged is discarded and the fault is
   * returned. If the commit rejects a staged transfer because of funds or a freeze, the operation
   * runs once more.
   */
  attempt<R>(work: () => Promise<R>): Promise<R | Fault>;
  /** Stages a job to run after the commit, at `at` or immediately. */
  later<S extends TObject>(job: JobDefinition<S>, input: Static<S>, at?: Time): void;
}

/** Reads rows by id: a context, or the database outside of operations. */
export type Reader = Pick<Ctx, 'read'>;

/** State gathered by a context. */
interface StagedWork {
  set: ChangeSet;
  /** Rows that are inserted or changed, by table and id. */
  staged: Map<string, Row>;
  insufficientFundsFaults: Map<string, () => Fault>;
  retryAccounts: Set<string>;
}

/** Saves the staged state. The returned function restores it. */
function savepoint({
  set,
  staged,
  insufficientFundsFaults,
  retryAccounts,
}: StagedWork): () => void {
  const lists: unknown[][] = Object.values(set);
  const lengths = lists.map((list) => list.length);
  const rows = [...staged].map(([key, row]) => ({ key, row, before: { ...row } }));
  const [faults, accounts] = [[...insufficientFundsFaults], [...retryAccounts]];
  return () => {
    for (const [index, list] of lists.entries()) list.length = lengths[index] as number;
    staged.clear();
    insufficientFundsFaults.clear();
    retryAccounts.clear();
    for (const { key, row, before: previous } of rows)
      staged.set(key, Object.assign(row, previous));
    for (const [account, fault] of faults) insufficientFundsFaults.set(account, fault);
    for (const account of accounts) retryAccounts.add(account);
  };
}

/** Implements `ctx.attempt`. */
const attempting =
  (gathered: StagedWork) =>
  async <R>(work: () => Promise<R>): Promise<R | Fault> => {
    const { set, insufficientFundsFaults, retryAccounts } = gathered;
    const rollBack = savepoint(gathered);
    const transferCount = set.transfers.length;
    try {
      const result = await work();
      const accounts = set.transfers
        .slice(transferCount)
        .flatMap(({ debit, credit }) => [debit, credit]);
      // A transfer with its own fault, such as a limit, is not a reason to run again.
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
  const staged = new Map<string, Row>();
  /** Changed columns of staged updates, by table and id. */
  const changes = new Map<string, Set<string>>();
  const insufficientFundsFaults = new Map<string, () => Fault>();
  const retryAccounts = new Set<string>();
  const events = eventStaging({ effects, db, vault, caller, now, ownClock, set });
  const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;
  const versioned = (table: Table, row: Row) => ({
    table,
    id: row.id as string,
    version: row.version as number,
  });

  function insert<T extends Table>(table: T, values: NewRowOf<T>): RowOf<T> {
    const row: Row = { ...values };
    if (table.versioned) row.version = 1;
    for (const name of table.columnNames) if (row[name] === undefined) row[name] = null;
    set.inserts.push({ table, row });
    staged.set(keyOf(table, row.id), row);
    return row as RowOf<T>;
  }

  function update<T extends Table>(table: T, previous: RowOf<T>, patch: PatchOf<T>): RowOf<T> {
    const key = keyOf(table, previous.id);
    const stagedRow = staged.get(key);
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
      ...versioned(table, previous),
      previousRow: previous,
      row,
      changedColumns,
    });
    changes.set(key, changedColumns);
    staged.set(key, row);
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
    remove: (table, row) => void set.removes.push({ ...versioned(table, row), previousRow: row }),
    require: (table, row) => void set.requires.push(versioned(table, row)),
    transfer: (transfer) => stageTransfer('transfer', transfer),
    hold: (transfer) => stageTransfer('hold', transfer),
    post: (transfer) => stageTransfer('post', transfer),
    void: (transfer) => stageTransfer('void', transfer),
    freeze: (account, { empty = false } = {}) =>
      void set.freezes.push({ account, frozen: true, empty }),
    unfreeze: (account) => void set.freezes.push({ account, frozen: false, empty: false }),
    ...events,
    attempt: attempting({ set, staged, insufficientFundsFaults, retryAccounts }),
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

/** Fields that all resources present in the same way. */
export const stamps = (row: { created_at: Time; updated_at: Time }) => ({
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});
