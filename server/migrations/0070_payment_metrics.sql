-- Sums of payments for the charts of operators. A sweep follows the events of payments and maintains these tables
-- outside of the commits of payments, which they cost nothing.

-- The outcome of each payment as it is contained in the sums.
create table payment_counts (
  platform_id text collate "C" not null,
  id text collate "C" not null,
  created_at timestamptz not null,
  currency text collate "C" not null,
  amount bigint not null,
  outcome text not null check (outcome in ('NONE', 'OPEN', 'COMPLETED', 'FAILED', 'RETURNED')),
  primary key (platform_id, id)
);
-- Search by amount.
create index payment_counts_amount on payment_counts (currency, amount, created_at);

create table payment_metrics (
  platform_id text collate "C" not null,
  grain text collate "C" not null check (grain in ('hour', 'day')),
  -- Start of the hour or the day in which the payments were created.
  bucket timestamptz not null,
  type text collate "C" not null,
  currency text collate "C" not null,
  -- Empty without a rail.
  rail text collate "C" not null,
  payments bigint not null,
  completed bigint not null,
  failed bigint not null,
  returned bigint not null,
  amount numeric not null,
  completed_amount numeric not null,
  returned_amount numeric not null,
  primary key (platform_id, grain, bucket, type, currency, rail)
) with (fillfactor = 70);
create index payment_metrics_of_all on payment_metrics (grain, bucket);

-- How far the events of each platform are counted. The row without a platform states until when the sums of all are
-- complete, and which process maintains them.
create table payment_metric_marks (
  platform_id text collate "C" primary key,
  -- clear: earlier sums are removed. backfill: payments are counted in the order of their creation. follow: events.
  stage text not null check (stage in ('clear', 'backfill', 'follow')),
  position bigint not null,
  event_id text collate "C" not null,
  backfill_at timestamptz not null,
  backfill_id text collate "C" not null,
  complete_until timestamptz,
  claimed_by text,
  claimed_until timestamptz,
  version integer not null default 1
);
insert into payment_metric_marks (platform_id, stage, position, event_id, backfill_at, backfill_id)
  values ('', 'follow', 0, '', 'epoch', '');
