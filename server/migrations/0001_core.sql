-- The machinery every feature stands on: ledger, events, jobs, idempotency.
-- Times come from the application; nothing here reads a clock.

-- Raised inside a batch when one of its guards does not hold: the whole optimistic attempt rolls back.
create function batch_guard(holds boolean, what text) returns void language plpgsql as $$
begin
  if not holds then raise exception 'batch guard: %', what using errcode = 'GC001'; end if;
end $$;

-- balance: everything posted. held: set aside by pending transfers. What can be spent is balance - held.
-- Accounts without a floor belong to the house (clearing, exchange, fees) and may go below zero.
create table ledger_accounts (
  id text collate "C" primary key,
  currency text not null,
  balance bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  floor bigint,
  created_at timestamptz not null,
  constraint ledger_floor check (floor is null or balance - held >= floor)
) with (fillfactor = 50);

-- Never updated, never deleted. The key makes a second posting of the same step impossible.
create table ledger_transfers (
  transaction_id text collate "C" not null,
  step text collate "C" not null,
  phase text not null check (phase in ('posted', 'pending', 'post', 'release')),
  debit text collate "C" not null,
  credit text collate "C" not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null,
  primary key (transaction_id, step),
  check (debit <> credit)
);
create function refuse_change() returns trigger language plpgsql as $$
begin raise exception '% rows are never changed', tg_table_name; end $$;
create trigger ledger_transfers_immutable before update or delete on ledger_transfers
  for each statement execute function refuse_change();

-- One row a fact: outbox, source of webhooks, timeline. balance and held are those of `account` as committed.
create table events (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  type text not null,
  subject text collate "C" not null,
  data text not null,
  account text collate "C",
  balance bigint,
  held bigint,
  created_at timestamptz not null,
  due_at timestamptz,
  attempts integer not null default 0
) with (fillfactor = 80);
create index events_due on events (platform_id, due_at) where due_at is not null;

-- Work to do after a commit. A claim moves due_at to the end of its lease and raises the version.
create table jobs (
  id text collate "C" primary key,
  kind text not null,
  input json not null,
  due_at timestamptz not null,
  attempts integer not null default 0,
  version integer not null default 1
);
create index jobs_due on jobs (due_at);

-- A stored reply; id is platform, method, path and the client's key.
create table idempotency (
  id text collate "C" primary key,
  body_hash text not null,
  status integer not null,
  reply text not null,
  created_at timestamptz not null
);
-- Rows are never changed and arrive in order, so a few ranges tell which blocks are old.
create index idempotency_age on idempotency using brin (created_at);
