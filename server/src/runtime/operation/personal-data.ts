// Locations of customer data. Each feature describes its tables, the decryption of their rows for an
// export, and the effect of an erasure. The privacy feature uses the assembled descriptions, so it does not
// depend on later features. A test compares the list with the database.
import type { Time } from '../../kernel/effects.ts';
import { idsFrom } from '../../kernel/id.ts';
import type { Database } from '../db/database.ts';
import type { DataKey, Vault } from '../security/vault.ts';
import type { Ctx } from './context.ts';
import type { Runtime } from './operate.ts';

/** Replaces an erased value. */
export const ERASED = 'erased';

/** A row in JSON form. */
export type Json = Record<string, unknown>;

/**
 * Converts a row that was read as JSON to the type of its table. The statement must select every column of
 * the table.
 */
export const rowAs = <R extends Json>(row: Json): R => row as R;

/** Condition for tables with a column `customer_id`. `t` is the table, `$1` the customer. */
export const CUSTOMER_ROWS_SQL = 't.customer_id = $1';

/** The customer of an export or an erasure. */
export interface DataSubject {
  id: string;
  platform_id: string;
  created_at: Time;
}

/** Opens sealed columns. */
export interface Opener<C = DataSubject> {
  vault: Vault;
  customer: C;
  /** Undefined after the erasure, when sealed columns can no longer be opened. */
  key: DataKey | undefined;
}

export interface PersonalTable<C = DataSubject> {
  /** Condition for the rows of the table, as `t`, that belong to the customer `$1`. */
  rows: string;
  /** Columns without personal data: hashes, and sealed values whose opened form is shown. */
  without?: readonly string[];
  /** Opens the sealed content of a row, which replaces the columns of the same names. */
  open?(opener: Opener<C>, row: Json): Json;
  /** Effect of an erasure on the rows. */
  erasure: 'emptied' | 'removed' | { retained: string };
  /** Condition for the rows to remove. `rows` if absent. */
  removes?: string;
  /**
   * Whether the rows are emptied or removed in the change set that deletes the data key. The rows
   * that meet `rows` are then counted.
   */
  atOnce?: true;
}

/** Number of rows of each table that were emptied or removed. */
export type Counts = Record<string, number>;

/** Personal data in the tables of one feature. */
export interface PersonalData<C = DataSubject> {
  tables: Readonly<Record<string, PersonalTable<C>>>;
  /**
   * Tables whose IDs are subjects of events, with the condition that a row belongs to the customer `$1`.
   */
  subjects?: Readonly<Record<string, string>>;
  /**
   * Stages the closing of one resource that must be closed when its customer is deleted. Returns whether
   * there may be more resources.
   */
  end?(ctx: Ctx, customerId: string): Promise<boolean>;
  /** Runs before the platform's ID of the customer is erased. */
  before?(runtime: Runtime, customer: C): Promise<Counts>;
  /** Stages the feature's part of the change set that deletes the data key. */
  erase?(ctx: Ctx, customer: C): Promise<void>;
  /** Empties rows after the change set that deletes the data key, in statements that can be repeated. */
  empty?(runtime: Runtime, customer: C): Promise<Counts>;
}

/** Runs a statement that returns the changed IDs. Returns their number. */
export const changedRows = async (
  db: Database,
  sql: string,
  values: readonly unknown[],
): Promise<number> => (await db.query(sql, [...values])).length;

export const DAY_MS = 86_400_000;

/**
 * An event ID that sorts before every event ID created from `time` on. Clocks of several processes can
 * differ.
 */
export const eventsFrom = (time: Time): string => idsFrom('Webhook', time - DAY_MS);
