// Where data about a customer lies: each feature describes its own tables, how their rows are opened for an
// export and what an erasure does about them. The privacy feature works from the assembled descriptions, so
// it needs no name of a later feature; a test checks the list against the database.
import type { Time } from '../../kernel/effects.ts';
import type { Database } from '../db/database.ts';
import type { DataKey, Vault } from '../security/vault.ts';
import type { Ctx } from './context.ts';
import type { Runtime } from './operate.ts';

/** Replaces a value that was erased. */
export const ERASED = 'erased';

/** A row as JSON has it. */
export type Json = Record<string, unknown>;

/** A row that was read as JSON, as its table's type. The statement selects every column of the table. */
export const rowAs = <R extends Json>(row: Json): R => row as R;

/** The condition of tables with a column of that name; `t` is the table, `$1` the customer. */
export const OF_CUSTOMER = 't.customer_id = $1';

/** The customer that an export or an erasure is about. */
export interface DataSubject {
  id: string;
  platform_id: string;
  created_at: Time;
}

/** What sealed columns are opened with. */
export interface Opener<C = DataSubject> {
  vault: Vault;
  customer: C;
  /** Undefined once it was forgotten: then nothing can be opened. */
  key: DataKey | undefined;
}

export interface PersonalTable<C = DataSubject> {
  /** Which rows of the table, as `t`, are about the customer `$1`. */
  rows: string;
  /** Columns that say nothing about a person: hashes, and keys that are shown opened. */
  without?: readonly string[];
  /** What is sealed in a row, opened; it replaces the columns of the same names. */
  open?(opener: Opener<C>, row: Json): Json;
  /** What an erasure does about the rows. */
  erasure: 'emptied' | 'removed' | { stays: string };
  /** Which rows are removed, where those are more than `rows`. */
  removes?: string;
  /** Emptied or removed by the change set that forgets the data key, which counts `rows`. */
  atOnce?: true;
}

/** How many rows of each table were emptied or removed. */
export type Counts = Record<string, number>;

/** What one feature has to say about the personal data in its tables. */
export interface PersonalData<C = DataSubject> {
  tables: Readonly<Record<string, PersonalTable<C>>>;
  /** Tables whose ids events go by, with the condition that a row is the customer's, `$1`. */
  subjects?: Readonly<Record<string, string>>;
  /** Stages the end of one resource that must not outlive its customer; whether there may be more. */
  end?(ctx: Ctx, customerId: string): Promise<boolean>;
  /** Done before the platform's own id of the customer is forgotten. */
  before?(runtime: Runtime, customer: C): Promise<Counts>;
  /** Stages what the change set does that forgets the data key. */
  forget?(ctx: Ctx, customer: C): Promise<void>;
  /** Empties rows after that change set, in statements that can be repeated. */
  empty?(runtime: Runtime, customer: C): Promise<Counts>;
}

/** Runs a statement that returns the ids it changed; how many. */
export const changedRows = async (
  db: Database,
  sql: string,
  values: readonly unknown[],
): Promise<number> => (await db.query(sql, [...values])).length;

export const DAY_MS = 86_400_000;

/** An event id before every one that was made from `at` on. */
export function eventsFrom(at: Time): string {
  // Clocks of several processes differ a little.
  const hex = Math.max(0, at - DAY_MS)
    .toString(16)
    .padStart(12, '0');
  return `Webhook:${hex.slice(0, 8)}-${hex.slice(8)}`;
}
