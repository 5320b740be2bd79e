// A column of a list.
import type { ReactNode } from 'react';

export interface Column<Row> {
  /** Field of the row, and name of the column. */
  name: string;
  label?: string;
  cell?: (row: Row) => ReactNode;
  /** Text in an export; the field of the row unless stated. */
  text?: (row: Row) => string;
  isNumber?: boolean;
  /** Not shown until the reader selects it. */
  isHidden?: boolean;
  width?: string;
}
