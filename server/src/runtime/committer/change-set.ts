// What an operation returns: rows to insert, update, remove or require, ledger transfers, freezes of ledger
// accounts, and events. Plain data, which the committer judges and writes as one.
import type { Time } from '../../kernel/effects.ts';
import type { FreezeRow, LedgerRejection, TransferRow } from '../../ledger/transfer.ts';
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

/** An event for the platform. Where `account` is set, the row keeps that ledger account's balance too. */
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
  /** Whether it is delivered to the webhook endpoint of its platform. */
  delivered: boolean;
  /** The customer under whose data key `data` is sealed; absent where it lies in clear. */
  sealed_for?: string | null;
}

export interface ChangeSet {
  inserts: { table: Table; row: Row }[];
  updates: Update[];
  removes: Versioned[];
  requires: Versioned[];
  transfers: TransferRow[];
  freezes: FreezeRow[];
  events: EventRow[];
}

export const emptyChangeSet = (): ChangeSet => ({
  inserts: [],
  updates: [],
  removes: [],
  requires: [],
  transfers: [],
  freezes: [],
  events: [],
});

/** Why a change set was rejected, by itself and not for another of its batch. */
export type Rejection =
  /** A row it changes, removes or leans on has moved on: run the operation again. */
  | { why: 'version'; table: string; id: string }
  /** A primary key chosen by a client (an idempotency key) is taken. */
  | { why: 'exists'; table: string; id: string }
  | LedgerRejection;

export type Outcome = { ok: true } | { ok: false; rejection: Rejection };
