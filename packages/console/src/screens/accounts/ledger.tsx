// The ledger: trial balance, chart of accounts, the postings of an account, verification of the ledger.
import { Link, useParams } from '@tanstack/react-router';
import type { Item, Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import { columnsOf, pathIn } from '../../parts/columns.tsx';
import { Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/feedback.tsx';
import { Identifier } from '../../parts/identifier.tsx';
import { IntegrityCheck } from '../../parts/integrity-check.tsx';
import { stepText } from '../../parts/ledger-name.ts';
import { List } from '../../parts/list.tsx';
import { Amount } from '../../parts/money.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { Scroll } from '../../parts/scroll.tsx';
import { ModeMark, Status, statusText } from '../../parts/status.tsx';
import { usePlatform } from '../../shell/platform.tsx';
import { ACCOUNT_TEXTS as T } from '../../texts/accounts.ts';
import { TEXTS } from '../../texts/texts.ts';
import { LedgerExport } from './ledger-export.tsx';

/** Types with many accounts. Every other type has one system account per environment and currency. */
const TYPES_WITH_MANY_ACCOUNTS: readonly string[] = ['CUSTOMER', 'PLATFORM'];

type Line = Reply<'getTrialBalance'>['data'][number];

/** Link from a line of the trial balance to its account, or to its list of accounts. */
function TypeLink({ mode, currency, type }: Pick<Line, 'mode' | 'currency' | 'type'>) {
  const text = statusText(type);
  if (!TYPES_WITH_MANY_ACCOUNTS.includes(type)) {
    const id = ['system', mode, type.toLowerCase(), currency].join(':');
    return <Link to={`/ledger/${encodeURIComponent(id)}`}>{text}</Link>;
  }
  const search = { type, currency, mode, hasBalance: 'true' };
  return (
    <Link to="/ledger" search={search as never} hash={CHART_ID}>
      {text}
    </Link>
  );
}

/** Anchor of the chart of accounts. */
const CHART_ID = 'chart';

function TrialBalance() {
  const { platformId, isLimited } = usePlatform();
  // Debits and credits are equal only for all platforms together.
  const isPartial = platformId !== undefined || isLimited;
  const query = useReply('getTrialBalance', { query: platformId ? { platformId } : {} });
  return (
    <Panel title={isPartial ? T.platformBalances : T.trialBalance}>
      {isPartial && <p className="soft">{T.systemAccounts}</p>}
      <QueryView query={query}>
        {({ data, totals, isCounted }) => (
          <>
            {!isCounted && <p className="soft">{T.notCounted}</p>}
            <Scroll label={T.trialBalance}>
              <table className="grid">
                <thead>
                  <tr>
                    <th scope="col">{T.environment}</th>
                    <th scope="col">{T.accountType}</th>
                    {[T.debit, T.credit, T.net].map((each) => (
                      <th key={each} scope="col" className="number">
                        {each}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.map(({ mode, currency, type, debit, credit, net }) => (
                    <tr key={`${mode} ${currency} ${type}`}>
                      <td>
                        <ModeMark mode={mode} />
                      </td>
                      <td>
                        <TypeLink {...{ mode, currency, type }} />
                      </td>
                      {[debit, credit, net].map((amount, index) => (
                        <td key={['debit', 'credit', 'net'][index]} className="number">
                          <Amount value={{ amount, currency }} />
                        </td>
                      ))}
                    </tr>
                  ))}
                  {(isPartial ? [] : totals).map(
                    ({ mode, currency, debit, credit, difference }) => (
                      <tr key={`${mode} ${currency}`} className="total">
                        <td>
                          <ModeMark mode={mode} />
                        </td>
                        <td>{difference === 0 ? T.balanced : T.differs}</td>
                        {[debit, credit, difference].map((amount, index) => (
                          <td key={['debit', 'credit', 'difference'][index]} className="number">
                            <Amount value={{ amount, currency }} />
                          </td>
                        ))}
                      </tr>
                    ),
                  )}
                </tbody>
              </table>
            </Scroll>
          </>
        )}
      </QueryView>
    </Panel>
  );
}

const accountColumns = columnsOf<'listLedgerAccounts'>();

const ACCOUNT_COLUMNS = [
  accountColumns.column('type', ({ type }) => statusText(type)),
  ...accountColumns.amounts('balance', 'held'),
  ...accountColumns.fields('status', 'mode', 'customerId', 'platformId', 'id'),
  ...accountColumns.hidden('name', 'currency', 'createdAt'),
];

export const Ledger = () => (
  <Screen title={TEXTS.pages.ledger}>
    <TrialBalance />
    <Panel title={T.chart} id={CHART_ID}>
      <List
        id="listLedgerAccounts"
        columns={ACCOUNT_COLUMNS}
        filters={[
          ...[{ name: 'type' }, { name: 'currency' }, { name: 'mode', label: T.environment }],
          ...[{ name: 'customerId' }, { name: 'hasBalance', values: ['true'] }],
        ]}
        pathOf={pathIn('/ledger', 'id')}
      />
    </Panel>
    <LedgerExport />
    <IntegrityCheck id="verifyLedger" title={T.verification} text={T.verifyText} label={T.verify} />
  </Screen>
);

type Posting = Item<'listLedgerAccountPostings'>;

const postingColumns = columnsOf<'listLedgerAccountPostings'>();

const amountColumn = (name: 'amount' | 'balanceAfter' | 'heldAfter', currency: string) => ({
  ...{ name, isNumber: true },
  cell: (row: Posting) => <Amount value={{ amount: row[name], currency }} />,
});

/** The columns of the postings of an account in this currency. */
const postingColumnsIn = (currency: string) => [
  ...(['amount', 'balanceAfter'] as const).map((name) => amountColumn(name, currency)),
  postingColumns.column('direction', ({ direction }) => <Status value={direction} />),
  ...postingColumns.fields('createdAt', 'transactionId'),
  postingColumns.column('step', ({ step, phase }: Posting) => `${stepText(step)}, ${phase}`),
  postingColumns.column('counterAccountId', ({ counterAccountId }) => (
    <Identifier id={counterAccountId} kind="LEDGER_ACCOUNT" />
  )),
  amountColumn('heldAfter', currency),
];

export function LedgerAccount() {
  const { id } = useParams({ strict: false }) as { id: string };
  const path = { ledgerAccountId: id };
  const query = useReply('listLedgerAccountPostings', { path, query: { limit: 1 } });
  return (
    <QueryView query={query} title={T.ledgerAccount}>
      {({ currency, balance, held, platformId }) => (
        <Screen title={T.ledgerAccount}>
          <p className="sub">
            <Identifier id={id} kind="LEDGER_ACCOUNT" />
          </p>
          <p className="figure">
            <Amount value={{ amount: balance, currency }} />
          </p>
          <Panel title={T.details}>
            <Facts value={{ currency, held: { amount: held, currency }, platformId }} />
          </Panel>
          <Panel title={T.postings}>
            <List id="listLedgerAccountPostings" path={path} columns={postingColumnsIn(currency)} />
          </Panel>
        </Screen>
      )}
    </QueryView>
  );
}
