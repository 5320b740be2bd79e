// Tables that fit the width of the terminal: texts are shortened, then the least important columns
// are omitted.
import type { Styles } from './style.ts';
import { isObject, shortText } from './values.ts';

const GAP = 2;
const MAX_COLUMNS = 7;
const MIN_COLUMNS = 3;
const INDENT = '  ';

export interface Column {
  readonly title: string;
  readonly texts: readonly string[];
  /** Minimum width of shortened texts. */
  readonly minWidth: number;
}

const widthOf = (text: string) => [...text].length;

const naturalWidth = ({ title, texts }: Column) =>
  Math.max(widthOf(title), ...texts.map((each) => widthOf(each)));

const totalWidth = (widths: readonly number[]) =>
  widths.reduce((sum, each) => sum + each, 0) + GAP * Math.max(0, widths.length - 1);

/**
 * Returns the widths of the columns, which are ordered by importance. Columns without a width are
 * omitted.
 */
export function fitColumns(columns: readonly Column[], width: number): number[] {
  for (let count = columns.length; count > 0; count--) {
    const widths = columns.slice(0, count).map(naturalWidth);
    let excess = totalWidth(widths) - width;
    while (excess > 0) {
      const candidates = widths
        .map((columnWidth, index) => ({
          current: columnWidth,
          index,
          minimum: columns[index]?.minWidth ?? 0,
        }))
        .filter(({ current, minimum }) => current > minimum);
      const widestColumn = candidates.sort((a, b) => b.current - a.current)[0];
      if (!widestColumn) break;
      const reducedWidth = Math.max(widestColumn.minimum, widestColumn.current - excess);
      excess -= widestColumn.current - reducedWidth;
      widths[widestColumn.index] = reducedWidth;
    }
    if (excess <= 0 || count === 1) return widths;
  }
  return [];
}

/** Whether the ID in the first column leaves too little width for the next two columns. */
const isNarrow = (columns: readonly Column[], width: number) =>
  !Number.isFinite(columns[0]?.minWidth) &&
  fitColumns(columns, width).length < Math.min(MIN_COLUMNS, columns.length);

const shorten = (text: string, width: number) =>
  widthOf(text) <= width ? text : `${[...text].slice(0, width - 1).join('')}…`;

/** Formats each row as two lines, for a narrow terminal: the ID, and below it the other columns. */
function stack(
  [firstColumn, ...otherColumns]: readonly Column[],
  width: number,
  styles: Styles,
): string[] {
  const [titles = '', ...rows] = layOut(otherColumns, width - INDENT.length, {
    ...styles,
    dim: String,
  });
  return [
    styles.dim(firstColumn?.title ?? ''),
    styles.dim(`${INDENT}${titles}`),
    ...rows.flatMap((row, index) => [firstColumn?.texts[index] ?? '', `${INDENT}${row}`]),
  ];
}

/** Returns the lines of a table. Without a width, texts are not shortened. */
export function layOut(
  columns: readonly Column[],
  width: number | undefined,
  styles: Styles,
): string[] {
  if (width !== undefined && columns.length > 1 && isNarrow(columns, width)) {
    return stack(columns, width, styles);
  }
  const widths = width === undefined ? columns.map(naturalWidth) : fitColumns(columns, width);
  const visibleColumns = columns.slice(0, widths.length);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => shorten(text, widths[index] ?? 0).padEnd(widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd();
  const count = visibleColumns[0]?.texts.length ?? 0;
  const rows = Array.from({ length: count }, (_, row) =>
    line(visibleColumns.map(({ texts }) => texts[row] ?? '')),
  );
  return [styles.dim(line(visibleColumns.map(({ title }) => title))), ...rows];
}

/** Fields of all resources in the order of importance. Other fields follow in the order of the reply. */
const PREFERRED_FIELDS = [
  ...['id', 'number', 'name', 'fullName', 'type', 'eventType', 'operationId'],
  ...['status', 'state', 'kycStatus', 'kybStatus', 'errorCode', 'balance', 'amount'],
  ...['sentAmount', 'receivedAmount', 'authorizedAmount', 'settledAmount', 'currency', 'last4'],
  ...['timestamp', 'createdAt', 'at', 'url', 'delivery', 'customerType', 'permissions'],
  ...['eventId', 'resourceId', 'customerId', 'platformCustomerId'],
];
/** Fields that lists omit. */
const OMITTED_FIELDS = [
  'updatedAt',
  'region',
  'isDeleted',
  'clientSecret',
  'statusChangedAt',
  'replayed',
];

const rank = (name: string) => {
  const index = PREFERRED_FIELDS.indexOf(name);
  return index < 0 ? PREFERRED_FIELDS.length : index;
};

const titleOf = (name: string) =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toUpperCase();

/**
 * IDs and times are never shortened. Types, statuses and names of operations keep more characters
 * than other texts.
 */
function minWidthOf(name: string): number {
  if (/(^id|(?<!operation)Id|At|timestamp|^at)$/.test(name)) return Number.POSITIVE_INFINITY;
  return /(^type|Type|^status|^operationId)$/.test(name) ? 20 : 12;
}

export const columnOf = (name: string, texts: readonly string[]): Column => ({
  title: titleOf(name),
  texts,
  minWidth: minWidthOf(name),
});

/** Returns the columns of a list of resources, which depend on the fields of the items. */
export function columnsOf(items: readonly unknown[]): Column[] {
  const rows = items.filter(isObject);
  const names = [...new Set(rows.flatMap((each) => Object.keys(each)))]
    .filter((name) => !OMITTED_FIELDS.includes(name))
    .filter((name) => rows.every((each) => shortText(each[name]) !== undefined))
    .filter((name) => rows.some((each) => shortText(each[name]) !== ''))
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_COLUMNS);
  return names.map((name) =>
    columnOf(
      name,
      rows.map((each) => shortText(each[name]) ?? ''),
    ),
  );
}
