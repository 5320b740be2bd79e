-- Terms of providers, countries and costs of routes, the reasons of each choice, what was sent to a provider
-- per day and from its prefunded balance, its calls per minute, and its automatic pause.
alter table providers
  -- JSON of limits, cut-off times, prefunding and the automatic pause.
  add column terms text not null default '{}',
  add column pause_reason text,
  -- OPERATOR or SYSTEM; null while the provider is active.
  add column paused_by text check (paused_by in ('OPERATOR', 'SYSTEM')),
  -- Time of the last pause or resumption: earlier results do not cause a pause.
  add column status_since timestamptz;
update providers set status_since = created_at;
update providers set paused_by = 'OPERATOR' where status = 'PAUSED';
alter table providers alter column status_since set not null;

alter table provider_routes
  add column country text,
  -- In minor units of the currency of the route.
  add column cost_fixed bigint not null default 0,
  add column cost_basis_points integer not null default 0;

alter table provider_transfers
  -- Null for transfers before this version.
  add column kind text,
  add column currency text,
  add column amount bigint,
  -- JSON of the routes for such transfers at the time of the choice.
  add column choice text,
  -- Null until the result.
  add column outcome text check (outcome in ('SETTLED', 'FAILED', 'RETURNED', 'CANCELED')),
  add column outcome_at timestamptz;
create index provider_transfers_outcome on provider_transfers (provider_id, outcome_at)
  where outcome_at is not null;
create index provider_transfers_created on provider_transfers (provider_id, created_at);

-- What was sent to a provider on a day (UTC); only with a limit per day.
create table provider_usage (
  -- Provider, currency and day.
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  currency text not null,
  day text not null,
  amount bigint not null,
  created_at timestamptz not null,
  version integer not null
);
create index provider_usage_created on provider_usage (created_at);

-- The prefunded balance: the last known amount, and what was sent since.
create table provider_balances (
  -- Provider and currency.
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  currency text not null,
  amount bigint not null,
  spent bigint not null,
  -- OPERATOR or PROVIDER.
  source text not null check (source in ('OPERATOR', 'PROVIDER')),
  reported_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);

-- Calls to a provider per minute, added up over all processes.
create table provider_calls (
  -- Provider and start of the minute.
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  minute timestamptz not null,
  calls integer not null,
  errors integer not null,
  total_ms bigint not null,
  max_ms integer not null,
  -- Calls of at most this duration.
  within_100 integer not null,
  within_500 integer not null,
  within_2000 integer not null
);
create index provider_calls_minute on provider_calls (minute);

-- For the retention of messages: `provider_messages_created` exists. Messages of a payment are found by it.
create index provider_messages_transaction on provider_messages (transaction_id)
  where transaction_id is not null;
