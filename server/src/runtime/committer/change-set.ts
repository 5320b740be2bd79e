// What an operation hands over: rows to insert, change, remove or lean on, ledger transfers, gates of
// ledger accounts, and events.
// It is plain data, judged and written as one by the committer; nothing in it happens until then.
import type { Time } from '../../kernel/world.ts';
import type { Table } from '../db/table.ts';

export type Row = Record<string, unknown>;

/** A change of a row as read at `version`; `row` is the whole new row, still with the old version. */
export interface Update {
  table: Table;
  id: string;
  version: number;
  row: Row;
}

/** A row the decision leaned on, or a row to remove, as read at `version`. */
export interface Versioned {
  table: Table;
  id: string;
  version: number;
}

/**
 * One movement between two ledger accounts of one currency.
 * `posted` moves balance; `pending` only sets it aside on the debit side (`held`); `post` turns a pending
 * transfer of the same amount into a movement; `release` gives it back.
 */
export type Phase = 'posted' | 'pending' | 'post' | 'release';

export interface TransferRow {
  /** The transaction that it belongs to; with `step` its identity, so a step cannot be posted twice. */
  transaction_id: string;
  step: string;
  /** `post` and `release` name the step that set the money aside, and are stored under it with a `!`. */
  phase: Phase;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
  created_at: Time;
  /** Moves although an account is shut: a refund, a debt. `post` and `release` never ask. */
  force?: boolean;
}

/**
 * Opens or shuts a ledger account, after all transfers of its change set. Through a shut account nothing
 * new moves, neither out nor in; what was set aside before goes on.
 */
export interface GateRow {
  account: string;
  shut: boolean;
  /** Only when nothing is left in the account then, balance or held. */
  empty: boolean;
}

/** A fact told to the platform. Where `account` is set, the row keeps that ledger account's balance too. */
export interface EventRow {
  id: string;
  platform_id: string;
  type: string;
  /** Id of the resource the event is about. */
  subject: string;
  /** The resource as JSON text. */
  data: string;
  account: string | null;
  created_at: Time;
  /** When the first delivery is due; null for an event that nobody is to be told. */
  due_at: Time | null;
  /** The customer under whose data key `data` is sealed; absent where it lies in clear. */
  sealed_for?: string | null;
}

export interface ChangeSet {
  inserts: { table: Table; row: Row }[];
  updates: Update[];
  removes: Versioned[];
  requires: Versioned[];
  transfers: TransferRow[];
  gates: GateRow[];
  events: EventRow[];
}

export const emptyChangeSet = (): ChangeSet => ({
  inserts: [],
  updates: [],
  removes: [],
  requires: [],
  transfers: [],
  gates: [],
  events: [],
});

/** Why a change set was refused; it alone, whatever shared its batch. */
export type Refusal =
  /** A row it changes, removes or leans on has moved on: run the operation again. */
  | { why: 'version'; table: string; id: string }
  /** A primary key chosen by a client (an idempotency key) is taken. */
  | { why: 'exists'; table: string; id: string }
  /** A ledger account would fall below its floor. */
  | { why: 'funds'; account: string }
  /** A ledger account that was to pay or receive is shut. */
  | { why: 'shut'; account: string }
  /** A ledger account that had to be empty is not. */
  | { why: 'full'; account: string }
  /** A unique key or another constraint of a table. */
  | { why: 'constraint'; constraint: string };

export type Outcome = { ok: true } | { ok: false; refusal: Refusal };
