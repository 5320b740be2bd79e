// Effect of a change: the values before and after, the most important first, and the postings.
import { fieldLabel } from '../texts/fields.ts';
import { TEXTS } from '../texts/texts.ts';
import { Value, valueIn } from './facts.tsx';
import { Identifier } from './identifier.tsx';
import { accountName, stepText } from './ledger-name.ts';
import { Amount, type Money } from './money.tsx';
import { pathOf, tableName } from './paths.ts';
import { Scroll } from './scroll.tsx';

type Values = Readonly<Record<string, unknown>>;

interface RowChange {
  table: string;
  id: string;
  before?: Values;
  after?: Values;
}

export interface Changes {
  rows: readonly RowChange[];
  transfers: readonly Values[];
  omitted: number;
}

const T = TEXTS.change;

/** Technical columns, which only the details show. */
const TECHNICAL = /^(?:id|version|position|created_at|updated_at|.*_(?:hash|key|digest|position))$/;

/** The most important fields first. */
const RANKS = [/status|state$/, /amount|balance|fee/, /reason/, /name|reference/] as const;

const rankOf = (name: string): number => {
  const rank = RANKS.findIndex((each) => each.test(name));
  return rank < 0 ? RANKS.length : rank;
};

const toCamelCase = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

const AMOUNT = /(?:^|_)(?:amount|balance|held|owed|fee|volume)$/;

/** Whether a value is an amount in minor units. The values of a bigint column are strings. */
const isMinorUnits = (name: string, value: unknown): value is number | string =>
  AMOUNT.test(name) && /^-?\d+$/.test(String(value));

interface CellProps {
  name: string;
  value: unknown;
  currency: string | undefined;
}

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list of records, such as limits, with one line for each. */
const Records = ({ records }: { records: readonly Values[] }) => (
  <ul className="sentences">
    {records.map((record, index) => (
      // Records of a column have no ID, and their order does not change.
      <li key={index.toString()}>
        {Object.keys(record)
          .filter((name) => name !== 'currency' && record[name] !== null)
          .map((name) => (
            <span key={name} className="pair">
              {fieldLabel(name)}: <Value name={name} value={valueIn(record, name)} />
            </span>
          ))}
      </li>
    ))}
  </ul>
);

function Cell({ name, value, currency }: CellProps) {
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord))
    return <Records records={value} />;
  if (currency && isMinorUnits(name, value)) return <Amount value={{ amount: value, currency }} />;
  return <Value name={toCamelCase(name)} value={value} />;
}

/** Amounts of the postings whose currency is known. */
export const amountsOf = ({ transfers }: Pick<Changes, 'transfers'>): Money[] =>
  transfers.flatMap(({ amount, currency }) =>
    typeof currency === 'string' ? [{ amount: String(amount), currency }] : [],
  );

/** The largest amount in the currency of the first amount. Smaller amounts are fees. */
export function largestOf(amounts: readonly Money[]): Money | undefined {
  const [firstAmount] = amounts;
  return amounts
    .filter(({ currency }) => currency === firstAmount?.currency)
    .reduce<Money | undefined>(
      (largest, each) =>
        largest && BigInt(largest.amount) >= BigInt(each.amount) ? largest : each,
      undefined,
    );
}

interface RowViewProps {
  row: RowChange;
  currency: string | undefined;
}

function RowView({ row: { table, id, before, after }, currency }: RowViewProps) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
    .filter((name) => !TECHNICAL.test(name))
    .sort((a, b) => rankOf(a) - rankOf(b));
  if (names.length === 0) return null;
  const rowCurrency = [after, before]
    .map((each) => each?.currency)
    .find((each) => each !== undefined);
  const unit = typeof rowCurrency === 'string' ? rowCurrency : currency;
  const title =
    before && after ? tableName(table) : (before ? T.removed : T.added)(tableName(table));
  return (
    <section className="record">
      <h3>
        {title} {pathOf(id) && <Identifier id={id} />}
      </h3>
      <Scroll label={title}>
        <table className="grid compare">
          <thead>
            <tr>
              <th scope="col">{T.field}</th>
              {before && <th scope="col">{T.before}</th>}
              {after && <th scope="col">{T.after}</th>}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{fieldLabel(toCamelCase(name))}</th>
                {before && (
                  <td>
                    <Cell name={name} value={before[name]} currency={unit} />
                  </td>
                )}
                {after && (
                  <td>
                    <Cell name={name} value={after[name]} currency={unit} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

const Postings = ({ transfers }: Pick<Changes, 'transfers'>) => (
  <section className="record">
    <h3>{T.postings}</h3>
    <Scroll label={T.postings}>
      <table className="grid">
        <thead>
          <tr>
            {[T.step, T.from, T.to].map((each) => (
              <th key={each} scope="col">
                {each}
              </th>
            ))}
            <th scope="col" className="number">
              {T.amount}
            </th>
          </tr>
        </thead>
        <tbody>
          {transfers.map(({ step, phase, debit, credit, amount, currency }) => (
            <tr key={`${textOf(step)} ${textOf(phase)}`}>
              <td>{stepText(textOf(step))}</td>
              <td title={textOf(debit)}>{accountName(textOf(debit))}</td>
              <td title={textOf(credit)}>{accountName(textOf(credit))}</td>
              <td className="number">
                {typeof currency === 'string' ? (
                  <Amount value={{ amount: String(amount), currency }} />
                ) : (
                  <Value name="amount" value={amount} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </section>
);

interface ChangeViewProps {
  changes: Changes;
  /** Resource of the change, whose row is first. */
  subject: string | undefined;
}

export function ChangeView({ changes, subject }: ChangeViewProps) {
  const { rows, transfers } = changes;
  const currencies = new Set(amountsOf(changes).map(({ currency }) => currency));
  const [singleCurrency] = currencies.size === 1 ? currencies : [];
  const subjectRank = ({ id }: RowChange) => (id === subject ? 0 : 1);
  return (
    <>
      {rows
        .toSorted((a, b) => subjectRank(a) - subjectRank(b))
        .map((row) => (
          <RowView key={`${row.table} ${row.id}`} row={row} currency={singleCurrency} />
        ))}
      {transfers.length > 0 && <Postings transfers={transfers} />}
    </>
  );
}
