// Postings or daily balances of a period as a CSV file, for an accounting system.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { readRows } from '../../api/queries.ts';
import type { Column } from '../../parts/column.ts';
import { csvOf, download } from '../../parts/csv.ts';
import { Problem } from '../../parts/feedback.tsx';
import { decimalText } from '../../parts/money.tsx';
import { Panel } from '../../parts/panel.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';

type Row = Readonly<Record<string, unknown>>;

const textColumns = (...names: readonly string[]): Column<Row>[] => names.map((name) => ({ name }));

/** Amounts are in major units, because a spreadsheet has no decimals per currency. */
const amountColumns = (...names: readonly string[]): Column<Row>[] =>
  names.map((name) => ({
    name,
    text: (row) => decimalText({ amount: Number(row[name]), currency: String(row.currency) }),
  }));

const EXPORT_COLUMNS = {
  exportPostings: [
    ...textColumns('createdAt', 'transactionId', 'step', 'phase', 'debit', 'credit'),
    ...amountColumns('amount'),
    ...textColumns('currency', 'environment', 'platformId'),
  ],
  exportBalances: [
    ...textColumns('day', 'account', 'currency'),
    ...amountColumns('opening', 'debits', 'credits', 'closing'),
    ...textColumns('customerId', 'environment', 'platformId'),
  ],
} as const;

type Kind = keyof typeof EXPORT_COLUMNS;

/** Maximum number of rows. Exports by the command and the API have no limit of rows. */
const MAX_ROWS = 100_000;

interface ExportInput {
  kind: Kind;
  from: string;
  to: string;
  platformId: string | undefined;
}

/** Downloads the rows. Returns whether more rows exist. */
async function exportRows({ kind, ...query }: ExportInput): Promise<boolean> {
  const { rows, hasMore } = await readRows(kind, { query }, MAX_ROWS);
  const name = `${kind === 'exportPostings' ? 'postings' : 'balances'}-${query.from}-${query.to}`;
  download(`${name}.csv`, csvOf(rows, EXPORT_COLUMNS[kind] as readonly Column<never>[]));
  return hasMore;
}

const DAY_MS = 86_400_000;
const dateDaysAgo = (days: number) =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

export function LedgerExport() {
  const { platformId } = usePlatform();
  const [kind, setKind] = useState<Kind>('exportPostings');
  const [from, setFrom] = useState(() => dateDaysAgo(30));
  const [to, setTo] = useState(() => dateDaysAgo(0));
  const { mutate, isPending, error, data: hasMore } = useMutation({ mutationFn: exportRows });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ kind, from, to, platformId });
  };
  return (
    <Panel title={T.export}>
      <p className="soft">{T.exportText}</p>
      <form className="filters" onSubmit={submit}>
        <div className="filter">
          <label htmlFor="export-kind">{T.exportKind}</label>
          <select
            id="export-kind"
            value={kind}
            onChange={({ target }) => setKind(target.value as Kind)}
          >
            {(Object.keys(EXPORT_COLUMNS) as Kind[]).map((each) => (
              <option key={each} value={each}>
                {T.exportKinds[each]}
              </option>
            ))}
          </select>
        </div>
        <div className="filter">
          <label htmlFor="export-from">{T.exportFrom}</label>
          <input
            id="export-from"
            type="date"
            required
            value={from}
            max={to}
            onChange={({ target }) => setFrom(target.value)}
          />
        </div>
        <div className="filter">
          <label htmlFor="export-to">{T.exportTo}</label>
          <input
            id="export-to"
            type="date"
            required
            value={to}
            min={from}
            onChange={({ target }) => setTo(target.value)}
          />
        </div>
        <button type="submit" className="button" disabled={isPending}>
          {isPending ? TEXTS.list.exporting : TEXTS.list.export}
        </button>
      </form>
      <div role="status">{hasMore && <p>{T.exportedPart(MAX_ROWS)}</p>}</div>
      {error && <Problem error={error} />}
    </Panel>
  );
}
