// A list of the operator API, with filters in the URL and rows that are loaded on scrolling. Columns can be
// selected, views saved, and the filtered rows exported.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { columnVisibilityFeature, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Item, Query } from '../api/client.ts';
import { usePages } from '../api/queries.ts';
import type { OperationId } from '../generated/operations.ts';
import { OPERATIONS } from '../generated/operations.ts';
import { usePlatform } from '../shell/platform.tsx';
import { fieldLabel } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import type { Column } from './column.ts';
import { ACTIONS } from './columns.tsx';
import { Value } from './facts.tsx';
import { EmptyState, Problem, Skeleton } from './feedback.tsx';
import { type Filter, Filters } from './filters.tsx';
import { ListMenu } from './list-menu.tsx';
import { customersIn, NamesButton, NamesContext, useNames } from './names.tsx';
import { readStored, store } from './stored.ts';

export interface ListProps<Id extends OperationId> {
  id: Id;
  path?: Readonly<Record<string, string>>;
  /** Query of every request, in addition to the filters. */
  query?: Partial<Query<Id>>;
  columns: readonly Column<Item<Id>>[];
  filters?: readonly Filter[];
  /** Path of the screen of a row. */
  pathOf?: (row: Item<Id>) => string | undefined;
  /** Selects rows of a list whose operation has no filters. */
  keep?: (row: Item<Id>, search: Search) => boolean;
  emptyText?: string;
}

type Search = Readonly<Record<string, string>>;

/** Selects the rows whose fields have the values of the filters. */
export const matchFilters =
  <Row,>(...names: readonly (keyof Row & string)[]) =>
  (row: Row, search: Search): boolean =>
    names.every((name) => !search[name] || String(row[name]) === search[name]);

const features = tableFeatures({ columnVisibilityFeature });
const ROW_PX = 32;
const OVERSCAN = 12;
/** The next page is requested this many rows before the end. */
const ROWS_AHEAD = 20;

const fieldOf = (row: unknown, name: string) => (row as Record<string, unknown>)[name];

const queryOf = (
  id: OperationId,
  search: Readonly<Record<string, string>>,
  platformId: string | undefined,
) => {
  const declaredParameters = OPERATIONS[id].query ?? [];
  const filters = Object.entries(search).filter(([name]) => declaredParameters.includes(name));
  const platform = declaredParameters.includes('platformId') && platformId ? { platformId } : {};
  return { ...platform, ...Object.fromEntries(filters) };
};

export function List<Id extends OperationId>(props: ListProps<Id>) {
  const { id, path, query, columns, filters = [], pathOf, keep, emptyText } = props;
  const search = useSearch({ strict: false }) as Search;
  const { platformId } = usePlatform();
  const input = {
    ...(path && { path }),
    query: { ...query, ...queryOf(id, search, platformId) },
  };
  const pages = usePages(id, input);
  const names = useNames();
  const isShown = (row: Item<Id>) => keep?.(row, search) ?? true;
  const loadedRows = useMemo(
    () => (pages.data?.pages ?? []).flatMap(({ data }) => data) as Item<Id>[],
    [pages.data],
  );
  const rows = keep ? loadedRows.filter(isShown) : loadedRows;
  const visibilityKey = `columns ${id}`;
  const [columnVisibility, setVisibility] = useState<Record<string, boolean>>(() =>
    readStored(
      visibilityKey,
      Object.fromEntries(columns.filter((each) => each.isHidden).map(({ name }) => [name, false])),
    ),
  );
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column.name,
        accessorFn: (row: Item<Id>) => fieldOf(row, column.name),
        header: column.label ?? fieldLabel(column.name),
      })),
    [columns],
  );
  const table = useTable({
    ...{ features, columns: definitions as never, data: rows as never },
    state: { columnVisibility },
    onColumnVisibilityChange: (nextVisibility: unknown) => {
      const value =
        typeof nextVisibility === 'function' ? nextVisibility(columnVisibility) : nextVisibility;
      setVisibility(value);
      store(visibilityKey, value);
    },
  });
  // With a selected platform every row would show the same name.
  const isRepeated = (name: string) => name === 'platformId' && platformId !== undefined;
  const visibleColumns = columns.filter(
    ({ name }) => columnVisibility[name] !== false && !isRepeated(name),
  );
  return (
    <div className="list">
      <div className="list-bar">
        <Filters filters={filters} id={id} />
        <NamesButton {...names} ids={customersIn(rows)} />
        <ListMenu {...{ id, input, columns, isShown: isShown as never }} table={table as never} />
      </div>
      <NamesContext value={names.names}>
        <Rows
          {...{
            pages,
            rows,
            columns: visibleColumns,
            pathOf,
            isFiltered: Object.keys(search).length > 0,
          }}
          name={fieldLabel(id.replace(/^(?:list|search)/, ''))}
          emptyText={emptyText ?? TEXTS.list.empty}
        />
      </NamesContext>
    </div>
  );
}

/**
 * Keys of the rows. A key with the path of the row keeps the focus when a row is added above it.
 * Rows with the same path are numbered. In a list without paths, the key is the index.
 */
function keysOf<Row>(rows: readonly Row[], pathOf: RowsProps<Row>['pathOf']): string[] {
  const counts = new Map<string, number>();
  return rows.map((row, index) => {
    const key = pathOf ? (pathOf(row) ?? '') : String(index);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return `${key} ${count}`;
  });
}

interface RowsProps<Row> {
  /** Description of the list. */
  name: string;
  pages: ReturnType<typeof usePages>;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  pathOf: ((row: Row) => string | undefined) | undefined;
  isFiltered: boolean;
  emptyText: string;
}

function Rows<Row>(props: RowsProps<Row>) {
  const { name, pages, rows, columns, pathOf, isFiltered, emptyText } = props;
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const virtualizer = useVirtualizer({
    ...{ count: rows.length, estimateSize: () => ROW_PX, overscan: OVERSCAN },
    getScrollElement: () => box.current,
    initialRect: { width: 0, height: 800 },
  });
  const keys = useMemo(() => keysOf(rows, pathOf), [rows, pathOf]);
  const items = virtualizer.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useEffect(() => {
    const isNearEnd = lastIndex >= rows.length - ROWS_AHEAD;
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [lastIndex, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (pages.error && rows.length === 0)
    return <Problem error={pages.error} retry={() => void pages.refetch()} />;
  if (pages.isLoading) return <Skeleton lines={8} />;
  if (rows.length === 0 && !hasNextPage)
    return <EmptyState>{isFiltered ? TEXTS.list.noMatch : emptyText}</EmptyState>;
  const heightBefore = items[0]?.start ?? 0;
  const heightAfter = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be focusable */}
      <section ref={box} className="rows" tabIndex={0} aria-label={TEXTS.list.rows(name)}>
        <table className="grid" aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
          <thead>
            <tr>
              {columns.map(({ name: field, label, isNumber }) => (
                <th key={field} scope="col" className={classOf(field, isNumber)}>
                  {label ?? fieldLabel(field)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {heightBefore > 0 && <Gap height={heightBefore} span={columns.length} />}
            {items.map(({ index }) => {
              const row = rows[index] as Row;
              const link = pathOf?.(row);
              return (
                <tr
                  key={keys[index]}
                  aria-rowindex={index + 2}
                  className={link ? 'link' : undefined}
                  onClick={({ target }) => {
                    const isControl = target instanceof Element && target.closest('a, button');
                    const isSelecting = getSelection()?.type === 'Range';
                    if (link && !isControl && !isSelecting) void navigate({ to: link });
                  }}
                >
                  {columns.map(({ name: field, cell, isNumber }, columnIndex) => {
                    const content = cell ? (
                      cell(row)
                    ) : (
                      <Value name={field} value={fieldOf(row, field)} />
                    );
                    return (
                      <td key={field} className={classOf(field, isNumber)}>
                        {columnIndex === 0 && link ? (
                          <Link to={link} className="row-link">
                            {content}
                          </Link>
                        ) : (
                          content
                        )}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
            {heightAfter > 0 && <Gap height={heightAfter} span={columns.length} />}
          </tbody>
        </table>
      </section>
      <p className="soft count" role="status">
        {TEXTS.list.count(rows.length, hasNextPage)}
        {isFetchingNextPage && ` · ${TEXTS.loading}`}
      </p>
    </>
  );
}

/** Columns with IDs of several kinds. Other columns are named after the kind of their IDs. */
const ANY_KIND: readonly string[] = ['subject', 'resourceId', 'counterAccountId', 'about'];

const classOf = (name: string, isNumber: boolean | undefined) =>
  name === ACTIONS
    ? 'row-actions'
    : isNumber
      ? 'number'
      : ANY_KIND.includes(name)
        ? 'any-kind'
        : undefined;

const Gap = ({ height, span }: { height: number; span: number }) => (
  <tr>
    <td colSpan={span} className="gap" style={{ height }} />
  </tr>
);
