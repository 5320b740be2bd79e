// Payment metrics for charts, aggregated from the hours and days that a sweep maintains.
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { allPlatforms } from '../../tenancy/platform/index.ts';

export const BUCKETS = ['hour', 'day', 'week', 'month'] as const;
type Bucket = (typeof BUCKETS)[number];

export const GROUPS = ['rail', 'platform'] as const;
type Group = (typeof GROUPS)[number];

/** Maximum number of buckets in a period. */
export const MAX_BUCKETS = 750;
/** Maximum number of rows in a reply. */
const MAX_ROWS = 10_000;

const HOUR_MS = 3_600_000;
const LENGTHS_MS: Readonly<Record<Bucket, number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 28 * 24 * HOUR_MS,
};
const DEFAULT_BUCKETS = 30;

interface MetricsQuery {
  /** Undefined for all platforms. */
  platformIds?: readonly string[] | undefined;
  mode?: Mode | undefined;
  type?: string | undefined;
  currency?: string | undefined;
  rail?: string | undefined;
  bucket?: Bucket | undefined;
  groupBy?: readonly Group[] | undefined;
  from?: string | undefined;
  until?: string | undefined;
}

interface Sums {
  start: Time;
  type: 'INCOMING' | 'OUTGOING' | 'CARD';
  currency: string;
  rail?: string;
  platform_id?: string;
  payments: bigint;
  completed: bigint;
  failed: bigint;
  returned: bigint;
  amount: string;
  completed_amount: string;
  returned_amount: string;
}

// The condition on platforms is absent for all platforms, because a plan does not depend on the
// values of parameters. Rows of some platforms are ranges of the primary key. Rows of all platforms
// are a range of the index by time.
export const metricsSql = (bucket: Bucket, groups: readonly Group[], isLimited: boolean) => {
  const labelNames = [
    'type',
    'currency',
    ...groups.map((each) => (each === 'rail' ? each : 'platform_id')),
  ];
  return `select date_trunc('${bucket}', bucket, 'UTC') as start, ${labelNames.join(', ')},
      sum(payments)::bigint as payments, sum(completed)::bigint as completed,
      sum(failed)::bigint as failed, sum(returned)::bigint as returned,
      sum(amount)::text as amount, sum(completed_amount)::text as completed_amount,
      sum(returned_amount)::text as returned_amount
    from payment_metrics
    where grain = $1 and bucket >= $2 and bucket < $3
      and ($4::text is null or type = $4) and ($5::text is null or currency = $5)
      and ($6::text is null or rail = $6)${isLimited ? ' and platform_id = any($7::text[])' : ''}
    group by 1, ${labelNames.join(', ')} having sum(payments) > 0
    order by 1, ${labelNames.join(', ')} limit ${MAX_ROWS + 1}`;
};

/** A ratio truncated to four decimals, or null if the denominator is zero. */
const ratio = (numerator: bigint, denominator: bigint) =>
  denominator === 0n ? null : Number((numerator * 10_000n) / denominator) / 10_000;

const presentRow = ({ platform_id, rail, ...row }: Sums) => {
  const settledCount = row.completed + row.returned;
  return {
    start: iso(row.start),
    type: row.type,
    currency: row.currency,
    ...(rail === undefined ? {} : { rail: rail || null }),
    ...(platform_id === undefined ? {} : { platformId: platform_id }),
    payments: Number(row.payments),
    completed: Number(row.completed),
    failed: Number(row.failed),
    returned: Number(row.returned),
    open: Number(row.payments - settledCount - row.failed),
    amount: row.amount,
    completedAmount: row.completed_amount,
    returnedAmount: row.returned_amount,
    successRate: ratio(settledCount, settledCount + row.failed),
    returnRate: ratio(row.returned, settledCount),
  };
};

/** The platforms of a query, or null for all platforms. */
async function platformsOf({ db }: Runtime, { platformIds, mode }: MetricsQuery) {
  if (mode === undefined) return platformIds ?? null;
  const platformsOfMode = (await allPlatforms(db)).filter((each) => each.environment === mode);
  return platformsOfMode.flatMap(({ id }) => (platformIds?.includes(id) === false ? [] : id));
}

const COMPLETE_UNTIL_SQL = `select case when bool_or(platform_id <> '' and stage <> 'follow') then null
    else max(complete_until) end as until
  from payment_metric_marks where platform_id = '' or $1::text[] is null or platform_id = any($1)`;

function periodOf({ effects }: Runtime, { bucket = 'day', from, until }: MetricsQuery) {
  const end = until === undefined ? effects.now() : Date.parse(until);
  const start = from === undefined ? end - DEFAULT_BUCKETS * LENGTHS_MS[bucket] : Date.parse(from);
  if (start >= end) throw invalidField('until', 'must be after `from`');
  if ((end - start) / LENGTHS_MS[bucket] > MAX_BUCKETS) {
    throw invalidField('from', `must be at most ${MAX_BUCKETS} buckets before \`until\``);
  }
  return { start, end };
}

/** Start of the hour or day of a time. */
const floor = (time: Time, length: number) => Math.floor(time / length) * length;

/**
 * Metrics by bucket, type and currency. Throws INVALID_INPUT for an invalid period, and for a reply
 * with too many rows.
 */
export async function paymentMetrics(runtime: Runtime, query: MetricsQuery) {
  const { bucket = 'day', groupBy = [], type, currency, rail } = query;
  const { start, end } = periodOf(runtime, query);
  const grain = bucket === 'hour' ? 'hour' : 'day';
  const platforms = await platformsOf(runtime, query);
  const from = new Date(floor(start, LENGTHS_MS[grain]));
  const filters = [type ?? null, currency ?? null, rail ?? null];
  const groups = GROUPS.filter((each) => groupBy.includes(each));
  const [completeRow] = await runtime.db.query<{ until: Time | null }>(COMPLETE_UNTIL_SQL, [
    platforms,
  ]);
  const values = [grain, from, new Date(end), ...filters, ...(platforms ? [platforms] : [])];
  const sql = metricsSql(bucket, groups, platforms !== null);
  const rows = await runtime.db.query<Sums & object>(sql, values);
  if (rows.length > MAX_ROWS) {
    const message = `matches more than ${MAX_ROWS} rows. Select a shorter period or fewer groups`;
    throw invalid([{ field: 'groupBy', message }]);
  }
  return {
    bucket,
    from: iso(from.getTime()),
    until: iso(end),
    completeUntil: completeRow?.until == null ? null : iso(completeRow.until),
    data: rows.map(presentRow),
  };
}

const BY_AMOUNT_SQL = `select id from payment_counts
  where currency = $1 and amount = $2 and created_at >= $3 and created_at < $4
    and ($5::text is null or platform_id = $5)
  order by created_at desc, id desc limit $6::int`;

export interface AmountQuery {
  amount: number;
  currency: string;
  /** Day of creation, UTC. */
  date?: string | undefined;
  platformId?: string | undefined;
  limit: number;
}

/** IDs of executed payments of an amount, newest first. */
export async function paymentsOfAmount(
  { db }: Pick<Runtime, 'db'>,
  { amount, currency, date, platformId, limit }: AmountQuery,
): Promise<string[]> {
  const from = date === undefined ? 0 : Date.parse(date);
  if (Number.isNaN(from)) throw new Fault('INVALID_INPUT', 'The date is invalid. Use YYYY-MM-DD.');
  const until = date === undefined ? 'infinity' : new Date(from + LENGTHS_MS.day);
  const values = [currency, BigInt(amount), new Date(from), until, platformId ?? null, limit];
  return (await db.query<{ id: string }>(BY_AMOUNT_SQL, values)).map(({ id }) => id);
}
