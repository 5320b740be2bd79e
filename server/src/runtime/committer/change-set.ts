// The result of an operation as plain data: rows to insert, update, remove or require, ledger transfers,
// freezes of ledger accounts, and events. The committer validates a change set and writes it completely or
// not at all.
import type { Time } from '../../kernel/effects.ts';
import type { FreezeRow, LedgerRejection, TransferRow } from '../../ledger/transfer.ts';
import type { Table } from '../db/table.ts';

export type Row = Record<string, unknown>;

/** A change of a row as read at `version`. `row` is the complete new row with the old version. */
export interface Update {
  table: Table;
  id: string;
  version: number;
  /** The row as read, for the audit of operators. */
  previousRow?: Row;
  row: Row;
  /** Columns that may differ from the row as read. No other columns are written. */
  changedColumns: ReadonlySet<string>;
}

/** A row on which the decision depends, as read at `version`. */
export interface RowVersion {
  table: Table;
  id: string;
  version: number;
}

/** A row to remove, as read at `version`. */
interface Removal extends RowVersion {
  /** The row as read, for the audit of operators. */
  previousRow?: Row;
}

/**
 * An event for the platform. If `account` is set, the row also stores that ledger account's
 * balance.
 */
export interface EventRow {
  id: string;
  platform_id: string;
  type: string;
  /** ID of the resource of the event. */
  subject: string;
  /**
   * The resource as stored JSON text. With `base_id`, only the fields that differ from the data of
   * the earlier event.
   */
  data: string;
  /** An earlier event of the same resource. Null or absent if `data` is complete. */
  base_id?: string | null;
  /** Identifies the version of the resource's row, if the row alone determines `data`. */
  version?: string;
  account: string | null;
  created_at: Time;
  /** Whether the event is queued for delivery to the webhook endpoints of its platform. */
  delivered: boolean;
  /** The customer whose data key seals `data`. Null or absent if `data` is in clear text. */
  sealed_for?: string | null;
  /** `customerKeyOf` of the event's customer. Null or absent without a customer. */
  customer_key?: number | null;
}

export interface ChangeSet {
  inserts: { table: Table; row: Row }[];
  updates: Update[];
  removes: Removal[];
  requires: RowVersion[];
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

/**
 * Reason for a rejection. A rejected change set has no effect on the other change sets of its
 * batch.
 */
export type Rejection =
  /**
   * A row that the change set updates, removes or requires was changed or removed. The operation
   * must run again.
   */
  | { reason: 'version'; table: string; id: string }
  /** A primary key chosen by a client (an idempotency key) exists already. */
  | { reason: 'exists'; table: string; id: string }
  | LedgerRejection;

export type Outcome = { ok: true } | { ok: false; rejection: Rejection };
