// Health of providers: calls and results over several windows of time, computed from the rows that
// all processes share.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { HEALTH_WINDOWS } from '../configuration/contract.ts';

const MINUTE_MS = 60_000;

const CALLS = `select w.minutes, c.provider_id, sum(c.calls)::int as calls,
    sum(c.errors)::int as errors, sum(c.total_ms)::float8 as total_ms, max(c.max_ms) as max_ms,
    sum(c.within_100)::int as within_100, sum(c.within_500)::int as within_500,
    sum(c.within_2000)::int as within_2000
  from unnest($1::int[], $2::timestamptz[]) as w(minutes, since)
  join provider_calls c on c.minute >= w.since
  where $3::text is null or c.provider_id = $3
  group by w.minutes, c.provider_id`;

const RESULTS = `select w.minutes, t.provider_id, t.outcome, count(*)::int as count
  from unnest($1::int[], $2::timestamptz[]) as w(minutes, since)
  join unnest($3::text[]) as p(id) on true
  join provider_transfers t on t.provider_id = p.id and t.outcome_at >= w.since
    and t.outcome_at is not null
  group by w.minutes, t.provider_id, t.outcome`;

interface CallSums {
  minutes: number;
  provider_id: string;
  calls: number;
  errors: number;
  total_ms: number;
  max_ms: number;
  within_100: number;
  within_500: number;
  within_2000: number;
}

interface ResultCount {
  minutes: number;
  provider_id: string;
  outcome: string;
  count: number;
}

/**
 * Rates are between 0 and 1, rounded to four decimals, or null without calls or results in the
 * window.
 */
export interface HealthWindow {
  minutes: number;
  calls: number;
  errors: number;
  errorRate: number | null;
  averageMs: number | null;
  maxMs: number | null;
  within100Ms: number;
  within500Ms: number;
  within2000Ms: number;
  settled: number;
  failed: number;
  returned: number;
  /** Ratio of settled transfers to settled, failed and returned transfers. */
  successRate: number | null;
  /** Ratio of returned transfers to all transfers that had settled. */
  returnRate: number | null;
}

const ratioOf = (numerator: number, denominator: number): number | null =>
  denominator === 0 ? null : Math.round((numerator / denominator) * 10_000) / 10_000;

function windowOf(
  minutes: number,
  sums: CallSums | undefined,
  results: ReadonlyMap<string, number>,
): HealthWindow {
  const { calls = 0, errors = 0 } = sums ?? {};
  const count = (outcome: string) => results.get(outcome) ?? 0;
  const [settled, failed, returned] = [count('SETTLED'), count('FAILED'), count('RETURNED')];
  return {
    ...{ minutes, calls, errors, errorRate: ratioOf(errors, calls) },
    averageMs: sums && calls > 0 ? Math.round(sums.total_ms / calls) : null,
    maxMs: sums?.max_ms ?? null,
    within100Ms: sums?.within_100 ?? 0,
    within500Ms: sums?.within_500 ?? 0,
    within2000Ms: sums?.within_2000 ?? 0,
    ...{ settled, failed, returned },
    successRate: ratioOf(settled, settled + failed + returned),
    returnRate: ratioOf(returned, settled + returned),
  };
}

export type HealthByProvider = ReadonlyMap<string, readonly HealthWindow[]>;

/**
 * Returns the windows of each provider, shortest first. Calls are stored per minute, so a window
 * contains the calls of the minutes that begin in it. Calls and results before `since` are excluded.
 */
export async function readHealth(
  db: Pick<Database, 'query'>,
  providerIds: readonly string[],
  now: Time,
  since: Time = 0,
): Promise<HealthByProvider> {
  if (providerIds.length === 0) return new Map();
  const minutes = [...HEALTH_WINDOWS];
  const startOf = (length: number) => Math.max(now - length * MINUTE_MS, since);
  const startTimes = minutes.map((each) => new Date(startOf(each)));
  const singleId = providerIds.length === 1 ? providerIds[0] : null;
  const [calls, results] = await Promise.all([
    db.query<CallSums>(CALLS, [minutes, startTimes, singleId]),
    db.query<ResultCount>(RESULTS, [minutes, startTimes, [...providerIds]]),
  ]);
  const windowsOf = (id: string) =>
    minutes.map((length) => {
      const isOfProvider = (row: { minutes: number; provider_id: string }) =>
        row.minutes === length && row.provider_id === id;
      const counts = results.filter(isOfProvider).map((row) => [row.outcome, row.count] as const);
      return windowOf(length, calls.find(isOfProvider), new Map(counts));
    });
  return new Map(providerIds.map((id) => [id, windowsOf(id)]));
}
