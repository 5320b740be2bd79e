// A column of a list.
import type { ReactNode } from 'react';

export interface Column<Row> {
  /** Field of the row, and name of the column. */
  name: string;
  label?: string;
  cell?: (row: Row) => ReactNode;
  /** Text in an export. Defaults to the field of the row. */
  text?: (row: Row) => string;
  isNumber?: boolean;
  /** Hidden until the user selects it. */
  isHidden?: boolean;
  width?: string;
}
