// Overview: payment volume, success and return rates, and open work.
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import type { Query, Reply } from '../../api/client.ts';
import { useReply } from '../../api/queries.ts';
import type { Series } from '../../parts/chart.tsx';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState, QueryView, Skeleton } from '../../parts/feedback.tsx';
import { decimalsOf, moneyText } from '../../parts/money.tsx';
import { Panel, Screen } from '../../parts/panel.tsx';
import { ModeMark, statusText } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { type Mode, useMode, usePlatform } from '../../shell/platform.tsx';
import { fieldLabel } from '../../texts/fields.ts';
import { OVERVIEW_TEXTS as T } from '../../texts/overview.ts';
import { TEXTS } from '../../texts/texts.ts';

const Chart = lazy(() => import('../../parts/chart.tsx').then((each) => ({ default: each.Chart })));

type Sums = Reply<'getPaymentMetrics'>['data'][number];

const HOUR_MS = 3_600_000;

const RANGES = {
  day: { bucket: 'hour', hours: 24 },
  week: { bucket: 'day', hours: 7 * 24 },
  month: { bucket: 'day', hours: 30 * 24 },
  quarter: { bucket: 'day', hours: 90 * 24 },
  year: { bucket: 'week', hours: 365 * 24 },
} as const;

type Range = keyof typeof RANGES;

const isRange = (text: string | undefined): text is Range => text !== undefined && text in RANGES;

const total = (
  sums: readonly Sums[],
  name: 'payments' | 'completed' | 'failed' | 'returned' | 'open',
) => sums.reduce((sum, each) => sum + each[name], 0);

const percentFormat = new Intl.NumberFormat(undefined, {
  style: 'percent',
  maximumFractionDigits: 1,
});

/** `count` as a percentage of `total`. */
const share = (count: number, total: number) =>
  total === 0 ? TEXTS.none : percentFormat.format(count / total);

const BUCKET_MS: Readonly<Record<string, number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
};

/** Starts of all buckets of the period, including those without payments, which the metrics omit. */
function startsOf({ bucket, from, until, data }: Reply<'getPaymentMetrics'>): string[] {
  const step = BUCKET_MS[bucket];
  if (!step) return [...new Set(data.map(({ start }) => start))].sort();
  const firstTime = data[0] ? Date.parse(data[0].start) : Date.parse(from);
  const offset = firstTime % step;
  const begin = Math.floor((Date.parse(from) - offset) / step) * step + offset;
  const count = Math.ceil((Date.parse(until) - begin) / step);
  return Array.from({ length: count }, (_, index) => new Date(begin + index * step).toISOString());
}

function seriesOf(sums: readonly Sums[], starts: readonly string[], currency: string): Series[] {
  const currencySums = sums.filter((each) => each.currency === currency);
  const scale = 10 ** (decimalsOf(currency) ?? 0);
  const amountAt = (start: string) =>
    currencySums
      .filter((each) => Date.parse(each.start) === Date.parse(start))
      .reduce((sum, each) => sum + Number(each.amount), 0) / scale;
  const text = (value: number) =>
    `${value.toLocaleString(undefined, { notation: 'compact', maximumFractionDigits: 1 })} ${currency}`;
  return [{ label: currency, values: starts.map(amountAt), color: '--accent', text }];
}

function countsOf(sums: readonly Sums[], starts: readonly string[]): Series[] {
  const countsBy = (name: 'completed' | 'failed' | 'returned') =>
    starts.map((start) =>
      total(
        sums.filter((each) => Date.parse(each.start) === Date.parse(start)),
        name,
      ),
    );
  const text = (value: number) => value.toLocaleString();
  return [
    { label: T.completed, values: countsBy('completed'), color: '--good', text },
    { label: T.failed, values: countsBy('failed'), color: '--bad', text },
    { label: T.returned, values: countsBy('returned'), color: '--caution', text },
  ];
}

/** Currencies in descending order of the number of payments. */
function currenciesOf(sums: readonly Sums[]): string[] {
  const counts = new Map<string, number>();
  for (const { currency, payments } of sums)
    counts.set(currency, (counts.get(currency) ?? 0) + payments);
  return [...counts].sort(([, a], [, b]) => b - a).map(([currency]) => currency);
}

function Figure({ label, value, note }: { label: string; value: string; note?: string }) {
  return (
    <div className="stat">
      <p className="label">{label}</p>
      <p className="figure">{value}</p>
      {note && <p className="soft">{note}</p>}
    </div>
  );
}

function Volumes({ reply, currency }: { reply: Reply<'getPaymentMetrics'>; currency: string }) {
  const sums = reply.data;
  const starts = useMemo(() => startsOf(reply), [reply]);
  const times = useMemo(() => starts.map((start) => Date.parse(start) / 1_000), [starts]);
  const amounts = useMemo(() => seriesOf(sums, starts, currency), [sums, starts, currency]);
  const counts = useMemo(() => countsOf(sums, starts), [sums, starts]);
  return (
    <Suspense fallback={<Skeleton />}>
      <div className="columns even">
        <Panel title={T.volume}>
          <Chart label={T.volumeOf(currency)} times={times} series={amounts} />
        </Panel>
        <Panel title={T.results}>
          <Chart label={T.resultsText} times={times} series={counts} />
        </Panel>
      </div>
    </Suspense>
  );
}

function Metrics({
  reply,
  currency,
  select,
}: {
  reply: Reply<'getPaymentMetrics'>;
  currency: string | undefined;
  select(currency: string): void;
}) {
  const sums = reply.data;
  const currencies = currenciesOf(sums);
  const shownCurrency = currency && currencies.includes(currency) ? currency : currencies[0];
  if (!shownCurrency) return <EmptyState>{T.noPayments}</EmptyState>;
  const [payments, completed, failedSum, returnedSum, openSum] = (
    ['payments', 'completed', 'failed', 'returned', 'open'] as const
  ).map((name) => total(sums, name)) as [number, number, number, number, number];
  const volume = sums
    .filter((each) => each.currency === shownCurrency)
    .reduce((sum, each) => sum + BigInt(each.amount), 0n);
  return (
    <>
      <div className="stats">
        <Figure label={T.payments} value={payments.toLocaleString()} note={T.open(openSum)} />
        <Figure
          label={T.volume}
          value={moneyText({ amount: String(volume), currency: shownCurrency })}
          note={T.currencies(currencies.length)}
        />
        <Figure
          label={T.successRate}
          value={share(completed + returnedSum, completed + returnedSum + failedSum)}
          note={T.failedCount(failedSum)}
        />
        <Figure
          label={T.returnRate}
          value={share(returnedSum, completed + returnedSum)}
          note={T.returnedCount(returnedSum)}
        />
      </div>
      <div className="filters">
        <div className="filter">
          <label htmlFor="currency">{T.currency}</label>
          <select
            id="currency"
            value={shownCurrency}
            onChange={({ target }) => select(target.value)}
          >
            {currencies.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      </div>
      <Volumes reply={reply} currency={shownCurrency} />
      <p className="soft">
        {T.completeUntil} <Time value={reply.completeUntil} />
      </p>
    </>
  );
}

/** Screens of the queues, by kind of open work. */
const QUEUES: Readonly<Record<string, { path: string; search?: Record<string, string> }>> = {
  heldDeposits: { path: '/deposits' },
  awaitedTransfers: { path: '/payouts' },
  suspenseItems: { path: '/suspense' },
  verifications: { path: '/verifications' },
  externalAccounts: { path: '/external-accounts' },
  factorResets: { path: '/resets' },
  walletRecoveries: { path: '/wallets' },
  cardExceptions: { path: '/card-payments' },
  stablecoins: { path: '/stablecoins' },
  approvals: { path: '/approvals', search: { status: 'PENDING' } },
};

function WorkItem({ name, count, hasMore }: Reply<'getOverview'>['work'][number]) {
  const { path, search } = QUEUES[name] ?? { path: '/' };
  return (
    <li>
      <Link to={path} {...(search && { search: search as never })}>
        <span>{fieldLabel(name)}</span>
        <strong className={count > 0 ? 'some' : ''}>{`${count}${hasMore ? '+' : ''}`}</strong>
      </Link>
    </li>
  );
}

/** Labels of circuit breaker states: whether calls to the provider are sent. */
const AVAILABILITY: Readonly<Record<string, string>> = T.availability;

type Circuits = NonNullable<Reply<'getOverview'>['connectors']>['circuits'];

const Providers = ({ circuits }: { circuits: Circuits }) => (
  <ul className="choices">
    {circuits.map(({ provider, state }) => (
      <li key={provider}>
        <span>{statusText(provider)}</span>
        <span className={`status ${state === 'closed' ? 'good' : 'bad'}`}>
          {AVAILABILITY[state] ?? state}
        </span>
      </li>
    ))}
  </ul>
);

/** Selected environment. Sandbox and production are never added up. */
interface ScopeProps {
  mode: Mode | undefined;
}

function State({ mode }: ScopeProps) {
  const { platformId } = usePlatform();
  const query = useReply(
    'getOverview',
    { query: { ...(mode && { mode }), ...(platformId && { platformId }) } },
    { enabled: mode !== undefined },
  );
  return (
    <QueryView query={query}>
      {({ work, jobs, webhooks, balances, connectors }) => (
        <>
          <Panel title={T.work}>
            <ul className="work">
              {work.map((each) => (
                <WorkItem key={each.name} {...each} />
              ))}
            </ul>
          </Panel>
          <div className="columns even">
            {balances && (
              <Panel title={T.balances}>
                <Facts
                  value={{
                    balances: balances.data.map(({ type, net, currency }) => ({
                      ...{ type, balance: { amount: net, currency } },
                    })),
                  }}
                />
                {!balances.isComplete && <p className="soft">{T.incomplete}</p>}
              </Panel>
            )}
            <Panel title={T.health}>
              {connectors && <Providers circuits={connectors.circuits} />}
              <Facts value={{ jobs, webhooks }} />
            </Panel>
          </div>
        </>
      )}
    </QueryView>
  );
}

/** The period, which begins at a full hour so that equal periods are read once. */
function periodOf(range: Range): Pick<Query<'getPaymentMetrics'>, 'bucket' | 'from'> {
  const { bucket, hours } = RANGES[range];
  const now = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  return { bucket, from: new Date(now - hours * HOUR_MS).toISOString() };
}

const MODES: readonly Mode[] = ['production', 'sandbox'];

interface ModePickerProps extends ScopeProps {
  select(mode: Mode): void;
}

/** Shown only without a selected platform, because a platform has one environment. */
function ModePicker({ mode, select }: ModePickerProps) {
  const { platform } = usePlatform();
  if (platform) return null;
  return (
    <fieldset className="segments">
      <legend className="unseen">{T.mode}</legend>
      {MODES.map((each) => (
        <button
          key={each}
          type="button"
          className="button"
          aria-pressed={each === mode}
          onClick={() => select(each)}
        >
          {TEXTS[each]}
        </button>
      ))}
    </fieldset>
  );
}

interface TotalsProps extends ScopeProps {
  range: Range;
  currency: string | undefined;
  select(currency: string): void;
}

function Totals({ mode, range, currency, select }: TotalsProps) {
  const { platformId } = usePlatform();
  const query = useReply(
    'getPaymentMetrics',
    { query: { ...periodOf(range), ...(mode && { mode }), ...(platformId && { platformId }) } },
    { enabled: mode !== undefined },
  );
  return (
    <QueryView query={query} lines={8}>
      {(reply) => <Metrics reply={reply} currency={currency} select={select} />}
    </QueryView>
  );
}

export function Overview() {
  const search = useSearch({ strict: false }) as Partial<
    Record<'range' | 'currency' | 'mode', string>
  >;
  const navigate = useNavigate();
  const { platformId } = usePlatform();
  const mode = useMode(search.mode);
  const range = isRange(search.range) ? search.range : 'month';
  // The panels remount when the environment or platform changes, so no outdated number is shown.
  const scope = `${mode} ${platformId}`;
  const change = (nextSearch: object) =>
    void navigate({ to: '/', search: { ...search, ...nextSearch } as never, replace: true });
  return (
    <Screen
      title={TEXTS.pages.overview}
      mark={mode && <ModeMark mode={mode} />}
      actions={
        <>
          <ModePicker mode={mode} select={(each) => change({ mode: each })} />
          <fieldset className="segments">
            <legend className="unseen">{T.range}</legend>
            {(Object.keys(RANGES) as Range[]).map((each) => (
              <button
                key={each}
                type="button"
                className="button"
                aria-pressed={each === range}
                onClick={() => change({ range: each })}
              >
                {T.ranges[each]}
              </button>
            ))}
          </fieldset>
        </>
      }
    >
      <Totals
        key={`totals ${scope}`}
        {...{ mode, range, currency: search.currency }}
        select={(currency) => change({ currency })}
      />
      <State key={`state ${scope}`} mode={mode} />
    </Screen>
  );
}
