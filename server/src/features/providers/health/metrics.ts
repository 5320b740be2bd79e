// Metrics of providers for alerts. Labels are names of providers and calendars, whose number is bounded.
import { CALENDAR_IDS } from '../../../catalog/rails/business-days.ts';
import { incompleteCalendars } from '../../../catalog/rails/settlement-dates.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { ProviderDirectory } from '../directory.ts';
import { providerBalances } from '../store.ts';
import { availableIn } from '../usage.ts';
import { type HealthByProvider, type HealthWindow, readHealth } from './windows.ts';

interface WatchDeps {
  metrics: Pick<Metrics, 'watchEach'>;
  directory: ProviderDirectory;
  db: Pick<Database, 'query' | 'find'>;
  effects: Pick<Effects, 'now'>;
}

/** Period in which the metrics of one scrape share one query. */
const CACHED_MS = 5_000;

const STATUS = { ACTIVE: 0, OPERATOR: 1, SYSTEM: 2 } as const;

/** Reads the health of all providers at most once in CACHED_MS. */
function createHealthCache({ directory, db, effects }: WatchDeps): () => Promise<HealthByProvider> {
  let cachedHealthResult: Promise<HealthByProvider> | undefined;
  let readAt: Time = 0;
  return () => {
    const now = effects.now();
    if (cachedHealthResult && now < readAt + CACHED_MS) return cachedHealthResult;
    readAt = now;
    const health = readHealth(db, [...directory.current().providers.keys()], now);
    cachedHealthResult = health;
    health.catch(() => {
      cachedHealthResult = undefined;
    });
    return health;
  };
}

function watchStatus({ metrics, directory }: WatchDeps): void {
  const help = 'Status of a provider: 0 active, 1 paused by an operator, 2 paused automatically.';
  metrics.watchEach('railhead_provider_status', help, 'provider', () => {
    const rows = [...directory.current().providers.values()].map(({ row }) => row);
    return new Map(rows.map((row) => [row.id, STATUS[row.paused_by ?? 'ACTIVE']]));
  });
}

function watchBalances({ metrics, directory, db }: WatchDeps): void {
  const help = 'Number of currencies whose prefunded balance is below its threshold or unknown.';
  metrics.watchEach('railhead_provider_balances_low', help, 'provider', async () => {
    const prefundedProviders = [...directory.current().providers.values()].filter(
      ({ terms }) => terms.prefunding !== undefined,
    );
    if (prefundedProviders.length === 0) return new Map();
    const rows = new Map((await db.find(providerBalances, {})).map((row) => [row.id, row]));
    const lowBalanceCount = ({ row, terms }: (typeof prefundedProviders)[number]) =>
      (terms.prefunding ?? []).filter(({ currency, alertBelow = 0 }) => {
        const balance = rows.get(`${row.id}/${currency}`);
        return balance === undefined || availableIn(balance) < BigInt(alertBelow);
      }).length;
    return new Map(prefundedProviders.map((each) => [each.row.id, lowBalanceCount(each)]));
  });
}

/**
 * Registers the number of calls, and the rates. A rate has no sample without calls or results in
 * the window.
 */
function watchRates(deps: WatchDeps): void {
  const health = createHealthCache(deps);
  const watch = (
    name: string,
    help: string,
    minutes: number,
    rateOf: (window: HealthWindow) => number | null,
  ) =>
    deps.metrics.watchEach(name, help, 'provider', async () => {
      const samples = [...(await health())].flatMap(([id, windows]) => {
        const window = windows.find((each) => each.minutes === minutes);
        const value = window ? rateOf(window) : null;
        return value === null ? [] : [[id, value] as const];
      });
      return new Map(samples);
    });
  const callPeriod = 'over 5 minutes, for all server processes.';
  watch('railhead_provider_calls', `Calls to a provider ${callPeriod}`, 5, (each) => each.calls);
  watch(
    'railhead_provider_error_rate',
    `Failed calls divided by all calls ${callPeriod}`,
    5,
    (each) => each.errorRate,
  );
  watch(
    'railhead_provider_latency_ms',
    `Average duration of calls ${callPeriod}`,
    5,
    (each) => each.averageMs,
  );
  watch(
    'railhead_provider_success_rate',
    'Settled transfers divided by settled, failed and returned transfers, over an hour.',
    60,
    (each) => each.successRate,
  );
  watch(
    'railhead_provider_return_rate',
    'Returned transfers divided by all transfers that had settled, over a day.',
    1_440,
    (each) => each.returnRate,
  );
}

function watchCalendars({ metrics, effects }: WatchDeps): void {
  const help = '1 if a business-day calendar lacks the year of the current or the next month.';
  metrics.watchEach('railhead_calendar_incomplete', help, 'calendar', () => {
    const incompleteIds = incompleteCalendars(effects.now(), CALENDAR_IDS);
    return new Map(CALENDAR_IDS.map((id) => [id, Number(incompleteIds.includes(id))]));
  });
}

export function watchProviders(deps: WatchDeps): void {
  watchStatus(deps);
  watchBalances(deps);
  watchRates(deps);
  watchCalendars(deps);
}
