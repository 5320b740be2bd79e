-- Quotes and transactions. Both are written at quote creation; a quote never changes, execution moves the
-- state of its transaction. No index of transactions holds a column that changes, so updates stay in place.

create table quotes (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C",
  transaction_id text collate "C" not null,
  source json not null,
  destination json not null,
  sending_currency text not null,
  receiving_currency text not null,
  sending_amount bigint not null check (sending_amount > 0),
  receiving_amount bigint not null check (receiving_amount > 0),
  fees bigint not null check (fees >= 0),
  platform_fees bigint not null check (platform_fees >= 0),
  exchange_rate text not null,
  rate_details json not null,
  lock_side text not null,
  lock_amount bigint not null,
  description text,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index quotes_expiry on quotes (expires_at);

create table transactions (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C",
  platform_customer_id text not null,
  type text not null,
  direction text not null,
  status text not null,
  funds text not null,
  source json not null,
  destination json not null,
  source_account text collate "C",
  destination_account text collate "C",
  sent_amount bigint,
  sent_currency text,
  received_amount bigint,
  received_currency text,
  fees bigint,
  platform_fees bigint,
  platform_fee_account text collate "C",
  exchange_rate text,
  rate_details json,
  quote_id text collate "C",
  description text,
  remittance text,
  rail text,
  rail_mode text,
  expected_settlement_at timestamptz,
  settlement_seconds integer,
  failure_reason text,
  pending_reason text,
  refund json,
  settled_at timestamptz,
  receipt_confirmed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
) with (fillfactor = 70);
create index transactions_of_platform on transactions (platform_id, created_at, id);
create index transactions_of_customer on transactions (customer_id, created_at, id)
  where customer_id is not null;
create index transactions_from on transactions (source_account, created_at, id)
  where source_account is not null;
create index transactions_to on transactions (destination_account, created_at, id)
  where destination_account is not null;
