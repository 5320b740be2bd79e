// SQL of payment metrics. The outcome of each counted payment is stored. A repeated count changes
// the totals only by the difference, so counting is idempotent. Each count also advances the
// progress mark of its platform in the same transaction.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';

export interface Mark {
  platform_id: string;
  stage: 'clear' | 'backfill' | 'follow';
  position: bigint;
  event_id: string;
  backfill_at: Time;
  backfill_id: string;
  version: number;
}

const COLUMNS = 'platform_id, stage, position, event_id, backfill_at, backfill_id, version';

/**
 * The outcome of a payment. NONE: a quote that was not executed. RETURNED: a payment that failed
 * after its settlement, or a refunded card payment. FAILED: a payment that failed before its
 * settlement or was canceled.
 */
export const OUTCOME = `case t.type
    when 'OUTGOING' then case
      when t.status in ('PENDING', 'EXPIRED') then 'NONE'
      when t.status = 'COMPLETED' then case t.funds when 'RETURNED' then 'FAILED' else 'COMPLETED' end
      when t.status = 'FAILED' then case when t.settled_at is null then 'FAILED' else 'RETURNED' end
      else 'OPEN' end
    when 'INCOMING' then case
      when t.status = 'COMPLETED' then 'COMPLETED'
      when t.status = 'FAILED' then case when t.settled_at is null then 'FAILED' else 'RETURNED' end
      else 'OPEN' end
    else case
      when t.status in ('SETTLED', 'PARTIALLY_SETTLED') then 'COMPLETED'
      when t.status = 'REFUNDED' then 'RETURNED'
      else 'OPEN' end end`;

/** Currency and amount: received by the platform's customer, or sent. */
export const PAYMENT_COLUMNS = `t.id, t.platform_id, t.created_at, t.type, coalesce(t.rail, '') as rail,
    case t.type when 'INCOMING' then t.received_currency else t.sent_currency end as currency,
    case t.type when 'INCOMING' then t.received_amount else t.sent_amount end as amount`;

/** SQL for the change of the count or amount of an outcome. */
const changeSql = (outcome: string, factor: string) =>
  `sum(${factor} * ((c.outcome = '${outcome}')::int - (c.before = '${outcome}')::int))`;
const totalSql = (factor: string) =>
  `sum(${factor} * ((c.outcome <> 'NONE')::int - (c.before <> 'NONE')::int))`;

const SUMS = [
  ['payments', totalSql('1')],
  ['completed', changeSql('COMPLETED', '1')],
  ['failed', changeSql('FAILED', '1')],
  ['returned', changeSql('RETURNED', '1')],
  ['amount', totalSql('c.amount')],
  ['completed_amount', changeSql('COMPLETED', 'c.amount')],
  ['returned_amount', changeSql('RETURNED', 'c.amount')],
] as const;

const SUM_NAMES = SUMS.map(([name]) => name).join(', ');

const COUNT = `with mark as (
    update payment_metric_marks set stage = $4, position = $5, event_id = $6, backfill_at = $7,
      backfill_id = $8, version = version + 1
    where platform_id = $1 and version = $2 returning platform_id
  ), outcomes as (
    select ${PAYMENT_COLUMNS}, ${OUTCOME} as outcome from transactions t, mark
    where t.id = any($3::text[]) and t.platform_id = mark.platform_id
  ), compared as (
    select f.*, coalesce(p.outcome, 'NONE') as before
    from outcomes f left join payment_counts p on p.platform_id = f.platform_id and p.id = f.id
    where f.outcome <> coalesce(p.outcome, 'NONE')
  ), stored as (
    insert into payment_counts (platform_id, id, created_at, currency, amount, outcome)
    select platform_id, id, created_at, currency, amount, outcome from compared
    on conflict (platform_id, id) do update set outcome = excluded.outcome
  ), added as (
    insert into payment_metrics as m
      (platform_id, grain, bucket, type, currency, rail, ${SUM_NAMES})
    select c.platform_id, g.grain, date_trunc(g.grain, c.created_at, 'UTC') as bucket, c.type,
      c.currency, c.rail, ${SUMS.map(([, sum]) => sum).join(', ')}
    from compared c, (values ('hour'), ('day')) g(grain)
    group by 1, 2, 3, 4, 5, 6
    on conflict (platform_id, grain, bucket, type, currency, rail) do update set
      ${SUMS.map(([name]) => `${name} = m.${name} + excluded.${name}`).join(', ')}
  )
  select 1 as advanced from mark`;

/** Counts payments and advances the mark. False if another process has advanced it. */
export async function count(
  db: Database,
  { platform_id, version }: Mark,
  ids: readonly string[],
  nextMark: Omit<Mark, 'platform_id' | 'version'>,
): Promise<boolean> {
  const backfillAt = new Date(nextMark.backfill_at);
  const markValues = [
    nextMark.stage,
    nextMark.position,
    nextMark.event_id,
    backfillAt,
    nextMark.backfill_id,
  ];
  return (await db.query(COUNT, [platform_id, version, ids, ...markValues])).length > 0;
}

/** Marks of platforms. The row with an empty `platform_id` is the claim and is excluded. */
export const readMarks = (db: Database): Promise<Mark[]> =>
  db.query(`select ${COLUMNS} from payment_metric_marks where platform_id <> $1`, ['']);

const START_MARKS = `insert into payment_metric_marks
    (platform_id, stage, position, event_id, backfill_at, backfill_id)
  select id, 'clear', $2, '', 'epoch', '' from unnest($1::text[]) id
  on conflict do nothing returning ${COLUMNS}`;

/**
 * Creates the marks of new platforms. Earlier payments are counted first, then the events from
 * `position`.
 */
export const startMarks = (
  db: Database,
  ids: readonly string[],
  position: bigint,
): Promise<Mark[]> => db.query(START_MARKS, [ids, position]);

const CLEAR_BATCH = 5_000;

// Requires the version of the mark that was read, because another process can write metrics while
// this process is paused.
const CLEAR = `with mark as (
    select platform_id from payment_metric_marks where platform_id = $1 and version = $2 for update)
  delete from payment_counts where ctid = any(array(
    select c.ctid from payment_counts c, mark where c.platform_id = mark.platform_id
    limit ${CLEAR_BATCH})) returning 1`;

const CLEAR_SUMS = `with mark as (
    update payment_metric_marks set stage = 'backfill', version = version + 1
    where platform_id = $1 and version = $2 returning platform_id)
  delete from payment_metrics m using mark where m.platform_id = mark.platform_id`;

/**
 * Removes one batch of earlier counts, or the sums after the last batch. Returns the number of
 * removed counts plus one, so that a further step follows.
 */
export async function clear(db: Database, { platform_id, version }: Mark): Promise<number> {
  const removedCount = (await db.query(CLEAR, [platform_id, version])).length;
  if (removedCount === 0) await db.query(CLEAR_SUMS, [platform_id, version]);
  return removedCount + 1;
}

const CREATED_PAYMENTS = `select id, created_at from transactions
  where platform_id = $1 and (created_at, id) > ($2::timestamptz, $3)
  order by created_at, id limit $4::int`;

/** The payments of a platform after those that a backfill has counted. */
export const createdAfter = (
  db: Database,
  { platform_id, backfill_at, backfill_id }: Mark,
  limit: number,
): Promise<{ id: string; created_at: Time }[]> =>
  db.query(CREATED_PAYMENTS, [platform_id, new Date(backfill_at), backfill_id, limit]);

const CLAIM = `update payment_metric_marks set claimed_by = $1, claimed_until = $3
  where platform_id = '' and (claimed_by = $1 or claimed_until is null or claimed_until < $2)
  returning 1`;

/** Claims the maintenance of the metrics until a time. False if another process has the claim. */
export const claim = async (db: Database, processId: string, now: Time, until: Time) =>
  (await db.query(CLAIM, [processId, new Date(now), new Date(until)])).length > 0;

const SET_COMPLETE = `update payment_metric_marks set complete_until = $1 where platform_id = ''
  and complete_until is distinct from $1`;

export const setComplete = (db: Database, until: Time | null) =>
  db.query(SET_COMPLETE, [until === null ? null : new Date(until)]);

/** Removes the mark of a platform. The sweep then recounts its payments. */
export const removeMark = (db: Database, platformId: string) =>
  db.query('delete from payment_metric_marks where platform_id = $1', [platformId]);
