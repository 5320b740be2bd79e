// A table as data: its columns, their mutability, the lifecycle of its rows, and the fault for a violated
// unique key. The statements of the committer and the row type are derived from the definition, so a new
// table needs a migration and a definition only.

import type { Time } from '../../kernel/effects.ts';
import type { Fault } from '../../kernel/fault.ts';
import { type Lifecycle, noTransition } from '../../kernel/states.ts';

/**
 * `json` is parsed on reading. `text` may contain JSON that is not parsed. `int8s` and `texts` are arrays.
 */
export type ColumnType =
  | 'text'
  | 'int4'
  | 'int8'
  | 'bool'
  | 'json'
  | 'time'
  | 'bytes'
  | 'int8s'
  | 'texts';

interface Column<V = unknown, Mutable extends boolean = boolean> {
  readonly type: ColumnType;
  readonly mutable: Mutable;
  /** Never set. The type of this property is the type of the value. */
  readonly value?: V;
}

interface Builder<V, M extends boolean> extends Column<V, M> {
  /** The column may be null. */
  readonly null: Builder<V | null, M>;
  /** The column may change after the row was inserted. */
  readonly mut: Builder<V, true>;
}

function column<V, M extends boolean>(type: ColumnType, mutable: M): Builder<V, M> {
  return {
    type,
    mutable,
    get null() {
      return column<V | null, M>(type, mutable);
    },
    get mut() {
      return column<V, true>(type, true);
    },
  };
}

/** Column builders. `col.text.null.mut` is a nullable, mutable text. */
export const col = {
  text: column<string, false>('text', false),
  int4: column<number, false>('int4', false),
  int8: column<bigint, false>('int8', false),
  bool: column<boolean, false>('bool', false),
  time: column<Time, false>('time', false),
  bytes: column<Buffer, false>('bytes', false),
  json: <V>() => column<V, false>('json', false),
  /** A text with a fixed set of values, such as a status. */
  enum: <V extends string>() => column<V, false>('text', false),
  int8s: column<readonly bigint[], false>('int8s', false),
  /** Strings with a fixed set of values. */
  enums: <V extends string>() => column<readonly V[], false>('texts', false),
};

type Columns = Record<string, Column>;

/** A lifecycle of the rows of a table, with the function that reads a row's state. */
interface TableLifecycle<R = Record<string, unknown>> {
  state(row: R): string;
  states: Lifecycle | ((row: R) => Lifecycle);
}

/** A row type that is more specific than the columns, such as a union. */
interface Rows<R> {
  /** Never set. Only its type is used. */
  readonly row?: R;
}

/**
 * For `rows` of a table: `rows<OutgoingRow | IncomingRow>()`. Database constraints must enforce
 * the type R.
 */
export const rows = <R>(): Rows<R> => ({});

export interface Table<C extends Columns = Columns, R = RowOfColumns<C>> extends Rows<R> {
  readonly name: string;
  readonly columns: C;
  readonly columnNames: readonly string[];
  readonly mutableNames: readonly string[];
  /** Whether rows have a `version` and can therefore be updated, removed and required. */
  readonly versioned: boolean;
  /** Whether the primary key is chosen by a client, so that a duplicate is a normal result. */
  readonly clientKeyed: boolean;
  /** Name of a unique constraint or index → the fault for its violation. */
  readonly unique: Readonly<Record<string, () => Fault>>;
  /**
   * Unique keys that two concurrent operations may insert after both found no row. The operation then runs
   * again.
   */
  readonly contendedKeys: readonly string[];
  /** Lifecycles that every change of a row must follow. */
  readonly lifecycles: readonly TableLifecycle[];
}

/**
 * Defines a table with the text column `id` as its primary key. Rows are mutable if there is a column
 * `version` (int4).
 */
export function table<C extends Columns, R = RowOfColumns<C>>(
  name: string,
  columns: C,
  options: {
    rows?: Rows<R>;
    unique?: Record<string, () => Fault>;
    clientKeyed?: boolean;
    contendedKeys?: readonly string[];
    lifecycles?: readonly TableLifecycle<NoInfer<R>>[];
  } = {},
): Table<C, R> {
  const columnNames = Object.keys(columns);
  return {
    name,
    columns,
    columnNames,
    mutableNames: columnNames.filter((each) => columns[each]?.mutable),
    versioned: 'version' in columns,
    clientKeyed: options.clientKeyed ?? false,
    unique: options.unique ?? {},
    contendedKeys: options.contendedKeys ?? [],
    lifecycles: (options.lifecycles ?? []) as readonly TableLifecycle[],
  };
}

/** The state of a row in each lifecycle of its table. */
export const statesOf = ({ lifecycles }: Table, row: Record<string, unknown>): string[] =>
  lifecycles.map((lifecycle) => lifecycle.state(row));

/** Throws `noTransition` if a change of a row is not a transition of its lifecycle. */
export function assertTransition(
  { name, lifecycles }: Table,
  previousStates: readonly string[],
  row: Record<string, unknown>,
): void {
  for (const [index, lifecycle] of lifecycles.entries()) {
    const states =
      typeof lifecycle.states === 'function' ? lifecycle.states(row) : lifecycle.states;
    const from = previousStates[index] as string;
    const to = lifecycle.state(row);
    if (states.allows(from, to)) continue;
    throw noTransition(
      `${name} ${String(row.id)}: ${states.name} has no transition from ${from} to ${to}`,
    );
  }
}

type ValueOf<X> = X extends Column<infer V, boolean> ? V : never;

/** A row with the types of its columns: bigint for int8, milliseconds for times, parsed json. */
export type RowOfColumns<C extends Columns> = { [K in keyof C]: ValueOf<C[K]> };

/** The row type of a table. */
export type RowOf<T extends Table> = NonNullable<T['row']>;

/**
 * A new row of type R. Nullable columns may be omitted, and `version` is always omitted. Distributes over a
 * union.
 */
export type NewRow<R> = R extends unknown
  ? {
      [K in keyof R as K extends 'version' ? never : null extends R[K] ? never : K]: R[K];
    } & {
      [K in keyof R as null extends R[K] ? K : never]?: R[K] | undefined;
    }
  : never;

/** Input of `ctx.insert`. */
export type NewRowOf<T extends Table> = NewRow<RowOf<T>>;

/** Input of `ctx.update`. Only mutable columns, with the values allowed in a row of type R. */
export type PatchOf<T extends Table, R = RowOf<T>> = {
  [K in keyof T['columns'] as T['columns'][K] extends { readonly mutable: true }
    ? K
    : never]?: K extends keyof R ? R[K] : never;
};
