// What an operation is given: reads, and a change set to stage into. A context lives for one attempt at
// one operation; nothing staged in it happens before the committer takes it. Staging the same row twice
// merges, so a function may move a row on without knowing who touched it before.
import type { Static, TObject, TSchema } from '@sinclair/typebox';
import type { Caller } from '../../kernel/caller.ts';
import type { EventDefinition } from '../../kernel/contract/event.ts';
import type { JobDefinition } from '../../kernel/contract/job.ts';
import { type Effects, iso, type Time } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Id, newId } from '../../kernel/id.ts';
import type { Money } from '../../kernel/money.ts';
import { PHASE_OF, type TransferVerb } from '../../ledger/transfer.ts';
import {
  type ChangeSet,
  type EventRow,
  emptyChangeSet,
  type Row,
} from '../committer/change-set.ts';
import type { Database } from '../db/database.ts';
import {
  assertTransition,
  type NewRowOf,
  type PatchOf,
  type RowOf,
  statesOf,
  type Table,
} from '../db/table.ts';
import { jobs } from '../jobs/jobs-table.ts';
import type { DataKey, Vault } from '../security/vault.ts';

/** A transfer to stage: money above zero, in the currency of both accounts. */
export interface TransferInput extends Money {
  transactionId: string;
  /** Unique within the transaction; a second posting of it is refused. */
  step: string;
  debit: string;
  credit: string;
  /** Applies although one of the accounts is frozen: a refund or a debt. */
  force?: boolean;
  /** What it means when the debit account cannot pay this; INSUFFICIENT_FUNDS unless said. */
  insufficientFundsFault?: () => Fault;
  /** When the debit account cannot pay this, the operation decides once more with fresh reads. */
  retryOnInsufficientFunds?: boolean;
}

export interface Ctx {
  readonly effects: Effects;
  readonly db: Database;
  /** Seals and opens personal data. */
  readonly vault: Vault;
  readonly caller: Caller;
  /** The time of this attempt; every row of one change set carries the same. */
  readonly now: Time;
  readonly set: ChangeSet;
  /** What it means when an account cannot pay, where a movement said so. */
  readonly insufficientFundsFaults: ReadonlyMap<string, () => Fault>;
  /** Accounts that cannot pay, or are frozen: a reason to decide once more. */
  readonly retryAccounts: ReadonlySet<string>;
  id<R extends string>(resource: R): Id<R>;
  /** One row by id, read together with those of concurrent callers. */
  read<T extends Table>(table: T, id: string): Promise<RowOf<T> | undefined>;
  insert<T extends Table>(table: T, row: NewRowOf<T>): RowOf<T>;
  /**
   * Stages a change of a row as it was read; the commit fails if somebody changed it since. Throws where
   * the lifecycle of the table has no such move.
   */
  update<T extends Table>(table: T, row: RowOf<T>, patch: PatchOf<T>): RowOf<T>;
  remove<T extends Table>(table: T, row: RowOf<T>): void;
  /** The decision leans on this row as read: the commit fails if it changed since. */
  require<T extends Table>(table: T, row: RowOf<T>): void;
  /** Posts an amount from the debit to the credit account. */
  transfer(transfer: TransferInput): void;
  /** Holds an amount on the debit account, for the credit account. */
  hold(transfer: TransferInput): void;
  /** Posts what `hold` of the same step holds. */
  post(transfer: TransferInput): void;
  /** Returns what `hold` of the same step holds to the debit account. */
  void(transfer: TransferInput): void;
  /**
   * Freezes a ledger account once the transfers of the change set are written. `empty` rejects the commit
   * unless its balance and its holds are zero then.
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
   * The same of what is personal: kept sealed under a customer's key until it is sent. Without a key, of a
   * customer who was erased, there is nothing left to seal.
   */
  emitSealed<S extends TSchema>(
    key: DataKey | undefined,
    event: EventDefinition<S>,
    subject: string,
    data: Static<S>,
  ): void;
  /** Stages an event that is not delivered with the others but by a job of its own. Returns its id. */
  record<S extends TSchema>(event: EventDefinition<S>, subject: string, data: Static<S>): string;
  /**
   * Does `work`; where it throws a fault nothing stays of what it staged, and the fault is the answer. Where
   * the commit finds that an account cannot pay or take what was staged, the operation decides once more.
   */
  attempt<R>(work: () => Promise<R>): Promise<R | Fault>;
  /** Work to do after the commit, at `at` or at once. */
  later<S extends TObject>(job: JobDefinition<S>, input: Static<S>, at?: Time): void;
}

/** Whatever reads rows by id: a context, or the database outside of operations. */
export type Reader = Pick<Ctx, 'read'>;

/** What the sealed text of an event is bound to. */
export const eventContext = (id: string) => `events ${id} data`;

/** What a context has gathered. */
interface StagedWork {
  set: ChangeSet;
  /** Rows that are inserted or changed, by table and id. */
  staged: Map<string, Row>;
  insufficientFundsFaults: Map<string, () => Fault>;
  retryAccounts: Set<string>;
}

/** Everything that is staged by now, as a function that goes back to it. */
function savepoint({
  set,
  staged,
  insufficientFundsFaults,
  retryAccounts,
}: StagedWork): () => void {
  const lists: unknown[][] = Object.values(set);
  const lengths = lists.map((list) => list.length);
  const rows = [...staged].map(([key, row]) => ({ key, row, was: { ...row } }));
  const [faults, accounts] = [[...insufficientFundsFaults], [...retryAccounts]];
  return () => {
    for (const [at, list] of lists.entries()) list.length = lengths[at] as number;
    staged.clear();
    insufficientFundsFaults.clear();
    retryAccounts.clear();
    for (const { key, row, was } of rows) staged.set(key, Object.assign(row, was));
    for (const [account, fault] of faults) insufficientFundsFaults.set(account, fault);
    for (const account of accounts) retryAccounts.add(account);
  };
}

/** `ctx.attempt` of a context. */
const attempting =
  (gathered: StagedWork) =>
  async <R>(work: () => Promise<R>): Promise<R | Fault> => {
    const { set, insufficientFundsFaults, retryAccounts } = gathered;
    const goBack = savepoint(gathered);
    const before = set.transfers.length;
    try {
      const result = await work();
      const moved = set.transfers.slice(before).flatMap(({ debit, credit }) => [debit, credit]);
      // What says itself what its lack means, a limit, is no reason by itself.
      for (const account of moved)
        if (!insufficientFundsFaults.has(account)) retryAccounts.add(account);
      return result;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      goBack();
      return error;
    }
  };

/** A fresh context: no reads done, nothing staged. */
export function createContext(
  { effects, db, vault }: Pick<Ctx, 'effects' | 'db' | 'vault'>,
  caller: Caller,
): Ctx {
  const now = effects.now();
  const set = emptyChangeSet();
  const staged = new Map<string, Row>();
  const insufficientFundsFaults = new Map<string, () => Fault>();
  const retryAccounts = new Set<string>();
  const keyOf = (table: Table, id: unknown) => `${table.name} ${String(id)}`;
  const versioned = (table: Table, row: Row) => ({
    table,
    id: row.id as string,
    version: row.version as number,
  });

  function insert<T extends Table>(table: T, given: NewRowOf<T>): RowOf<T> {
    const row: Row = { ...given };
    if (table.versioned) row.version = 1;
    for (const name of table.columnNames) if (row[name] === undefined) row[name] = null;
    set.inserts.push({ table, row });
    staged.set(keyOf(table, row.id), row);
    return row as RowOf<T>;
  }

  function update<T extends Table>(table: T, was: RowOf<T>, patch: PatchOf<T>): RowOf<T> {
    const known = staged.get(keyOf(table, was.id));
    const stood = statesOf(table, known ?? was);
    if (known) {
      assertTransition(table, stood, Object.assign(known, patch));
      return known as RowOf<T>;
    }
    const row: Row = { ...was, ...patch };
    assertTransition(table, stood, row);
    set.updates.push({ ...versioned(table, was), row });
    staged.set(keyOf(table, was.id), row);
    return row as RowOf<T>;
  }

  function stageTransfer(
    verb: TransferVerb,
    {
      transactionId,
      step,
      insufficientFundsFault,
      retryOnInsufficientFunds,
      ...rest
    }: TransferInput,
  ): void {
    const transaction_id = transactionId;
    const phase = PHASE_OF[verb];
    set.transfers.push({ transaction_id, step, phase, ...rest, created_at: now });
    if (insufficientFundsFault) insufficientFundsFaults.set(rest.debit, insufficientFundsFault);
    if (retryOnInsufficientFunds) retryAccounts.add(rest.debit);
  }

  function emit(
    { type }: EventDefinition,
    subject: string,
    data: unknown,
    account?: string,
  ): EventRow {
    const row: EventRow = {
      id: newId(effects, 'Webhook'),
      platform_id: caller.platformId,
      type,
      subject,
      data: JSON.stringify(data),
      account: account ?? null,
      created_at: now,
      delivered: true,
    };
    set.events.push(row);
    return row;
  }

  function emitSealed(
    key: DataKey | undefined,
    event: EventDefinition,
    subject: string,
    data: unknown,
  ): void {
    const row = emit(event, subject, data);
    if (!key) return;
    row.data = vault.seal(key, row.data, eventContext(row.id));
    row.sealed_for = key.owner;
  }

  return {
    effects,
    db,
    vault,
    caller,
    now,
    set,
    insufficientFundsFaults,
    retryAccounts,
    id: (resource) => newId(effects, resource),
    read: (table, id) => db.read(table, id),
    insert,
    update,
    remove: (table, row) => void set.removes.push(versioned(table, row)),
    require: (table, row) => void set.requires.push(versioned(table, row)),
    transfer: (transfer) => stageTransfer('transfer', transfer),
    hold: (transfer) => stageTransfer('hold', transfer),
    post: (transfer) => stageTransfer('post', transfer),
    void: (transfer) => stageTransfer('void', transfer),
    freeze: (account, { empty = false } = {}) =>
      void set.freezes.push({ account, frozen: true, empty }),
    unfreeze: (account) => void set.freezes.push({ account, frozen: false, empty: false }),
    emit: (...event) => void emit(...event),
    emitSealed,
    record: (...event) => Object.assign(emit(...event), { delivered: false }).id,
    attempt: attempting({ set, staged, insufficientFundsFaults, retryAccounts }),
    later: ({ kind }, input, at = now) =>
      void insert(jobs, {
        id: newId(effects, 'Job'),
        kind,
        platform_id: caller.platformId,
        input,
        due_at: at,
        attempts: 0,
        state: 'queued',
      }),
  };
}

/** The fields that every presented resource shows the same way. */
export const stamps = (row: { created_at: Time; updated_at: Time }) => ({
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});
