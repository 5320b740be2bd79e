-- Statements of providers, their lines, the days that they describe, and the differences to our own
-- payments. Lines contain no personal data.
create table statement_sources (
  -- Name of the provider.
  id text collate "C" primary key,
  -- IANA time zone in which its days end.
  time_zone text not null,
  -- Whether its fees are expected: they are posted as expenses without a decision.
  fees_expected boolean not null,
  -- The last day that was requested; null before the first request.
  requested_day text collate "C",
  updated_at timestamptz not null,
  version integer not null
);

create table provider_days (
  -- Provider, currency and day: `acme-bank/EUR/2026-11-27`.
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency text not null,
  day text collate "C" not null,
  status text not null check (status in ('OPEN', 'CLOSED')),
  -- The applied statement; null for a day that has only corrections of earlier days.
  statement_id text collate "C",
  -- Counts the statements that were applied to the day.
  statement_version integer not null,
  opening_balance bigint,
  closing_balance bigint,
  -- Opening balance that was posted, which only the first day has.
  opening_posted bigint not null,
  -- Effect of the posted lines on the account of the provider.
  line_net bigint not null,
  -- Effect of decisions and late corrections of the day on it.
  adjusted_net bigint not null,
  reconciled_at timestamptz,
  closed_at timestamptz,
  closed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index provider_days_created on provider_days (created_at, id);

create table provider_statements (
  -- Day and the ID that the provider assigned.
  id text collate "C" primary key,
  day_id text collate "C" not null,
  provider_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency text not null,
  day text collate "C" not null,
  statement_id text collate "C" not null,
  status text not null check (status in ('INCOMPLETE', 'COMPLETE', 'APPLIED', 'REPLACED', 'LATE')),
  opening_balance bigint not null,
  closing_balance bigint not null,
  line_count integer not null,
  page_count integer not null,
  pages_received integer not null,
  lines_received integer not null,
  created_at timestamptz not null,
  completed_at timestamptz,
  version integer not null
);
create index provider_statements_day on provider_statements (day_id, created_at);
create index provider_statements_created on provider_statements (created_at, id);

create table provider_statement_pages (
  -- Statement and number of the page.
  id text collate "C" primary key,
  lines integer not null,
  -- The page as it was received, JSON.
  body text not null,
  created_at timestamptz not null
);

create table provider_statement_lines (
  -- Day, ID that the provider assigned, and the version of the statement: the key of its postings.
  id text collate "C" primary key,
  day_id text collate "C" not null,
  provider_id text collate "C" not null,
  line_id text collate "C" not null,
  direction text not null check (direction in ('in', 'out')),
  amount bigint not null check (amount > 0),
  fee bigint not null check (fee >= 0),
  currency text not null,
  kind text not null,
  at timestamptz not null,
  transfer_id text collate "C",
  reference text collate "C",
  bank_reference text collate "C",
  -- NEW: not posted. SUSPENSE: a difference is open. REMOVED: a later statement does not have it.
  state text not null check (state in ('NEW', 'MATCHED', 'SUSPENSE', 'DECIDED', 'REMOVED')),
  -- Our transfer or deposit with its direction: it is on one line only.
  matched_key text collate "C",
  matched_by text,
  created_at timestamptz not null,
  version integer not null
);
create unique index provider_statement_lines_matched on provider_statement_lines (matched_key)
  where matched_key is not null;
create index provider_statement_lines_bank_reference on provider_statement_lines (bank_reference)
  where bank_reference is not null;

create table reconciliation_differences (
  id text collate "C" primary key,
  -- What differs, once: the kind and the line, our transfer or the day.
  key text collate "C" not null,
  day_id text collate "C" not null,
  provider_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  currency text not null,
  kind text not null,
  status text not null check (status in ('OPEN', 'CARRIED', 'IN_SUSPENSE', 'DECIDED', 'RESOLVED')),
  line_id text collate "C",
  -- Our transfer or deposit with its direction.
  subject text collate "C",
  transaction_id text collate "C",
  -- Effect on suspense, or the amount that is missing at the provider.
  amount bigint not null,
  detail text not null,
  owner_id text collate "C",
  note text,
  decision text,
  reason text,
  decided_by text,
  decided_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create unique index reconciliation_differences_key on reconciliation_differences (key);
create index reconciliation_differences_created on reconciliation_differences (created_at, id);
create index reconciliation_differences_day on reconciliation_differences (day_id);
create index reconciliation_differences_open on reconciliation_differences (created_at, id)
  where status in ('OPEN', 'CARRIED', 'IN_SUSPENSE');

-- The statement day on which a transfer was found; `none` if it will be on none. Null: not yet.
alter table provider_transfers add column reported_day text;
alter table provider_transfers add column version integer not null default 1;
create index provider_transfers_unreported on provider_transfers (provider_id, created_at, id)
  where reported_day is null;

-- A deposit can be recorded by an operator and reported by a provider, and is posted once.
alter table deposits add column provider_id text collate "C";
alter table deposits add column shared_key text collate "C";
create unique index deposits_shared on deposits (shared_key) where shared_key is not null;
create index deposits_provider on deposits (provider_id, currency, created_at)
  where provider_id is not null;
create index deposits_transaction on deposits (transaction_id);
create index rail_results_returned on rail_results (created_at) where state = 'returned';
