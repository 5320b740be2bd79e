-- Clocks of sandbox platforms that differ from real time. A platform without a row follows real time.
create table sandbox_clocks (
  -- The platform.
  id text collate "C" primary key,
  -- The instant at which the clock stands; null while it ticks.
  stands_at timestamptz,
  -- While it ticks: the difference to real time in milliseconds.
  offset_ms bigint not null default 0,
  -- Whether it stays at the instant that the latest change reached.
  frozen boolean not null default false,
  -- Where the latest change was to end; null if it did.
  target timestamptz,
  -- The change in progress, with a lease in real time.
  holder text collate "C",
  held_until timestamptz,
  -- Real time.
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Due time on the clock of the platform. `due_at` of such a job is in the year 9998 until it is claimed, so
-- that the queries of real time never find it.
alter table jobs add column clock_due_at timestamptz;
create index jobs_on_clocks on jobs (platform_id, clock_due_at, id) where clock_due_at is not null;
