// Columns whose values are sealed under a key of the installation. Features declare the columns of their
// tables, and a rotation seals their values again.

export interface SealedColumn {
  table: string;
  column: string;
  /** The column whose value is in the context. Defaults to `id`. */
  contextColumn?: string;
  /** Contexts that a sealed value of this row may have. */
  contexts(id: string): readonly string[];
  /** Prefix of a value that is sealed under a key of the installation. */
  prefix?: string;
  /** SQL condition of the rows that may contain a sealed value. Defaults to all rows. */
  where?: string;
  /** Whether the column is a JSON list of objects with `id` and `sealed`. Each object has its contexts. */
  isList?: boolean;
}
