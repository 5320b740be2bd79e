// Converts rows to columns, because the statements of a batch have one array for each column.

import type { TextRow } from '../db/lane.ts';
import type { Bound } from '../db/statement.ts';
import type { Row } from './change-set.ts';

export const column = (rows: readonly object[], name: string) =>
  rows.map((row) => (row as Row)[name]);

export const columns = (rows: readonly object[], names: readonly string[]) =>
  names.map((name) => column(rows, name));

/** A reading statement, and the function that adds its rows to the state. */
export interface BatchRead<State> {
  bound: Bound;
  read(rows: readonly TextRow[], state: State): void;
}
