// Menu of a list: select columns, save the filters as a view, export the rows.
import { Menu } from '@base-ui/react/menu';
import { Popover } from '@base-ui/react/popover';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Input } from '../api/client.ts';
import { readRows } from '../api/queries.ts';
import type { OperationId } from '../generated/operations.ts';
import { TEXTS } from '../texts/texts.ts';
import type { Column } from './column.ts';
import { csvOf, download } from './csv.ts';
import { readStored, store } from './stored.ts';

interface VisibilityTable {
  getAllLeafColumns(): {
    id: string;
    columnDef: { header?: unknown };
    getIsVisible(): boolean;
    toggleVisibility(isVisible: boolean): void;
  }[];
}

interface ListMenuProps {
  id: OperationId;
  input: Input;
  columns: readonly Column<never>[];
  table: VisibilityTable;
  isShown(row: unknown): boolean;
}

interface View {
  name: string;
  search: Readonly<Record<string, string>>;
}

/** Maximum number of rows of an export. Exports for accounting are on the page of the ledger. */
const MAX_ROWS = 10_000;

function Columns({ table }: { table: VisibilityTable }) {
  return (
    <Menu.Root>
      <Menu.Trigger className="button">{TEXTS.list.columns}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4} className="floating">
          <Menu.Popup className="menu">
            {table.getAllLeafColumns().map((column) => (
              <Menu.CheckboxItem
                key={column.id}
                className="menu-item check"
                checked={column.getIsVisible()}
                closeOnClick={false}
                onCheckedChange={(isVisible) => column.toggleVisibility(isVisible)}
              >
                <span className="checkbox">
                  <Menu.CheckboxItemIndicator className="checkmark" />
                </span>
                {String(column.columnDef.header)}
              </Menu.CheckboxItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Views({ id }: { id: OperationId }) {
  const key = `views ${id}`;
  const { search } = useLocation();
  const navigate = useNavigate();
  const [views, setViews] = useState<readonly View[]>(() => readStored(key, []));
  const [name, setName] = useState('');
  const storeViews = (nextViews: readonly View[]) => {
    setViews(nextViews);
    store(key, nextViews);
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const title = name.trim();
    if (!title) return;
    const view = { name: title, search: search as Record<string, string> };
    storeViews([...views.filter((each) => each.name !== title), view]);
    setName('');
  };
  return (
    <Popover.Root>
      <Popover.Trigger className="button">{TEXTS.list.views}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner align="end" sideOffset={4} className="floating">
          <Popover.Popup className="popover">
            <Popover.Title className="label">{TEXTS.list.views}</Popover.Title>
            {views.length === 0 && <p className="soft">{TEXTS.list.noViews}</p>}
            <ul className="views">
              {views.map((view) => (
                <li key={view.name}>
                  <button
                    type="button"
                    className="button quiet"
                    onClick={() => void navigate({ to: '.', search: view.search as never })}
                  >
                    {view.name}
                  </button>
                  <button
                    type="button"
                    className="copy"
                    aria-label={`${TEXTS.remove} ${view.name}`}
                    onClick={() => storeViews(views.filter((each) => each !== view))}
                  >
                    {TEXTS.remove}
                  </button>
                </li>
              ))}
            </ul>
            <form onSubmit={save} className="inline">
              <input
                aria-label={TEXTS.list.viewName}
                placeholder={TEXTS.list.viewName}
                value={name}
                maxLength={60}
                onChange={({ target }) => setName(target.value)}
              />
              <button type="submit" className="button">
                {TEXTS.save}
              </button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

export function ListMenu({ id, input, columns, table, isShown }: ListMenuProps) {
  const [isExporting, setExporting] = useState(false);
  const [notice, setNotice] = useState('');
  const exportRows = async () => {
    setExporting(true);
    setNotice('');
    try {
      const { rows, hasMore } = await readRows(id, input, MAX_ROWS);
      download(`${id}.csv`, csvOf(rows.filter(isShown), columns));
      if (hasMore) setNotice(TEXTS.list.exportLimited(MAX_ROWS));
    } catch {
      setNotice(TEXTS.list.exportFailed);
    } finally {
      setExporting(false);
    }
  };
  return (
    <div className="actions">
      {notice && <span role="alert">{notice}</span>}
      <Views id={id} />
      <Columns table={table} />
      <button
        type="button"
        className="button"
        disabled={isExporting}
        onClick={() => void exportRows()}
      >
        {isExporting ? TEXTS.list.exporting : TEXTS.list.export}
      </button>
    </div>
  );
}
