// Prepared statements whose parameters are arrays, one for each column, so that a batch of any size
// is the same statement.
import type { ColumnType } from './table.ts';

/** A prepared statement. Each parameter is an array of its type. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly types: readonly ColumnType[];
}

/** A statement with one array for each parameter. */
export interface Bound {
  readonly statement: Statement;
  readonly columns: readonly (readonly unknown[])[];
}

export const bind = (statement: Statement, ...columns: (readonly unknown[])[]): Bound => ({
  statement,
  columns,
});

/** Statements by text, so that the name of a statement never belongs to two texts. */
const statementsByText = new Map<string, Statement>();

/** The prepared statement of this text, which is the same object for every caller. */
export function statement(text: string, types: readonly ColumnType[] = []): Statement {
  let cachedStatement = statementsByText.get(text);
  if (!cachedStatement) {
    cachedStatement = { name: `statement_${statementsByText.size + 1}`, text, types };
    statementsByText.set(text, cachedStatement);
  }
  return cachedStatement;
}
