// Columns whose values are sealed under a key of the installation. A rotation seals them again.
// Features declare the columns of their tables.

export interface SealedColumn {
  table: string;
  column: string;
  /** The column whose value is in the context. `id` by default. */
  contextColumn?: string;
  /** Contexts that a sealed value of this row may have. */
  contexts(id: string): readonly string[];
  /** Prefix of a value that is sealed under a key of the installation. */
  prefix?: string;
  /** SQL: the rows that may contain one. All of them by default. */
  where?: string;
  /** The column is JSON: a list of objects with `id` and `sealed`. Contexts are of the objects. */
  isList?: boolean;
}
