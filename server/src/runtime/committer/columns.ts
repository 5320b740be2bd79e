// Rows as columns, which is how statements of a batch take their parameters.
import type { Row } from './change-set.ts';
import type { Answer } from './lane.ts';
import type { Bound } from './statements.ts';

export const column = (rows: readonly object[], name: string) =>
  rows.map((row) => (row as Row)[name]);

export const columns = (rows: readonly object[], names: readonly string[]) =>
  names.map((name) => column(rows, name));

/** A statement that reads, and what its answer adds to what is known. */
export interface BatchRead<Seen> {
  bound: Bound;
  read(rows: readonly Answer[], seen: Seen): void;
}
