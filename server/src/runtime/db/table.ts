// A table as data: its columns, which of them may change, how the life of a row may go, and the fault that
// a broken unique key means.
// The committer derives every statement from this and reads derive the row type, so a new table needs a
// migration and a description, and no SQL of its own.

import type { Time } from '../../kernel/effects.ts';
import type { Fault } from '../../kernel/fault.ts';
import type { Lifecycle } from '../../kernel/states.ts';

/** `json` is parsed on reading; `text` may hold JSON that nobody needs parsed. `int8s`, `texts`: arrays. */
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
  /** Never set: carries the value's type. */
  readonly value?: V;
}

interface Builder<V, M extends boolean> extends Column<V, M> {
  /** The column may hold null. */
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

/** Column builders; `col.text.null.mut` is a text that may be null and may change. */
export const col = {
  text: column<string, false>('text', false),
  int4: column<number, false>('int4', false),
  int8: column<bigint, false>('int8', false),
  bool: column<boolean, false>('bool', false),
  time: column<Time, false>('time', false),
  bytes: column<Buffer, false>('bytes', false),
  json: <V>() => column<V, false>('json', false),
  /** A text of a known set, such as a status. */
  word: <V extends string>() => column<V, false>('text', false),
  int8s: column<readonly bigint[], false>('int8s', false),
  /** Texts of a known set. */
  words: <V extends string>() => column<readonly V[], false>('texts', false),
};

type Columns = Record<string, Column>;

/** A lifecycle that the rows of a table go through, and where a row says how far it has come. */
interface TableLifecycle<R = Record<string, unknown>> {
  state(row: R): string;
  states: Lifecycle | ((row: R) => Lifecycle);
}

/** A row type that says more than the columns do, such as a union. */
interface Rows<R> {
  /** Never set: carries the type. */
  readonly row?: R;
}

/** For `rows` of a table: `rows<OutgoingRow | IncomingRow>()`. Its constraints must hold what R states. */
export const rows = <R>(): Rows<R> => ({});

export interface Table<C extends Columns = Columns, R = RowOfColumns<C>> extends Rows<R> {
  readonly name: string;
  readonly columns: C;
  readonly columnNames: readonly string[];
  readonly mutableNames: readonly string[];
  /** Whether rows carry `version` and so may be updated, removed and required. */
  readonly versioned: boolean;
  /** The primary key is chosen by a client, so meeting it again is an everyday event. */
  readonly clientKeyed: boolean;
  /** Name of a unique constraint or index → the fault to answer when it is broken. */
  readonly unique: Readonly<Record<string, () => Fault>>;
  /** Unique keys that two may meet at who both found nothing there: reading again shows what to do. */
  readonly contendedKeys: readonly string[];
  /** Lifecycles that every change of a row must keep to. */
  readonly lifecycles: readonly TableLifecycle[];
}

/** Describes a table. Its primary key is the text column `id`; `version` (int4) makes rows changeable. */
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

/** How far a row has come in each lifecycle of its table. */
export const statesOf = ({ lifecycles: lives }: Table, row: Record<string, unknown>): string[] =>
  lives.map((life) => life.state(row));

/** Throws when a row that stood at `was` is somewhere that no move leads to: our own mistake. */
export function assertTransition(
  { name, lifecycles: lives }: Table,
  was: readonly string[],
  row: Record<string, unknown>,
): void {
  for (const [at, life] of lives.entries()) {
    const states = typeof life.states === 'function' ? life.states(row) : life.states;
    const from = was[at] as string;
    const to = life.state(row);
    if (states.allows(from, to)) continue;
    throw new Error(
      `${name} ${String(row.id)}: ${states.name} has no transition from ${from} to ${to}`,
    );
  }
}

type ValueOf<X> = X extends Column<infer V, boolean> ? V : never;

/** A row as the columns describe it: bigint for int8, milliseconds for times, parsed json. */
export type RowOfColumns<C extends Columns> = { [K in keyof C]: ValueOf<C[K]> };

/** A row as the code sees it. */
export type RowOf<T extends Table> = NonNullable<T['row']>;

/** A new row of type R: nullable columns may be left out, `version` always is. Distributes over a union. */
export type NewRow<R> = R extends unknown
  ? {
      [K in keyof R as K extends 'version' ? never : null extends R[K] ? never : K]: R[K];
    } & {
      [K in keyof R as null extends R[K] ? K : never]?: R[K] | undefined;
    }
  : never;

/** What `ctx.insert` takes. */
export type NewRowOf<T extends Table> = NewRow<RowOf<T>>;

/** What `ctx.update` takes: only columns that may change, with the values that a row of type R may have. */
export type PatchOf<T extends Table, R = RowOf<T>> = {
  [K in keyof T['columns'] as T['columns'][K] extends { readonly mutable: true }
    ? K
    : never]?: K extends keyof R ? R[K] : never;
};
