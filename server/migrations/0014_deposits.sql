-- What an operator who carries payments by hand works with: the queue of what waits for word from a bank,
-- and which entries of the bank's statement have been taken in. And a way to the postings of a day.

-- One row while a movement of a transaction waits for a notice; the id is the transaction's. Apart from
-- the transactions, because an index on what changes there would make every step of every payment dearer.
create table rail_waits (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  kind text not null check (kind in ('payout', 'pull', 'refund')),
  since timestamptz not null,
  version integer not null default 1
);
create index rail_waits_since on rail_waits (since, id);

-- What an operator said about a movement, with the bank's own reference. Rows are only ever added; the id
-- is the transaction's, the kind and the state, so the same is said once.
create table rail_notices (
  id text collate "C" primary key,
  transaction_id text collate "C" not null,
  kind text not null,
  state text not null,
  reference text,
  reason text,
  created_at timestamptz not null
);

-- The id is environment, currency and the bank's own reference, so an entry is taken in once.
create table deposits (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  transaction_id text collate "C" not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  target text not null,
  created_at timestamptz not null
);

-- Transfers arrive in the order of time, so a few ranges tell which blocks a day lies in.
create index ledger_transfers_age on ledger_transfers using brin (created_at);
