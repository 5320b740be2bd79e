-- Requests for the return of settled payouts. The ID is that of the transaction.
create table transfer_recalls (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider_id text collate "C" not null,
  cause text not null,
  state text not null check (state in ('REQUESTED', 'ACCEPTED', 'REJECTED')),
  rejection text,
  decided_at timestamptz,
  created_at timestamptz not null,
  version integer not null default 1
);
create index transfer_recalls_of_platform on transfer_recalls (platform_id);

-- Rates that providers hold for quotes. The ID is that of the quote.
create table firm_quotes (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider_id text collate "C" not null,
  reference text not null,
  sold_currency text not null,
  sold bigint not null check (sold > 0),
  bought_currency text not null,
  bought bigint not null check (bought > 0),
  state text not null check (state in ('HELD', 'REDEEMED', 'REJECTED', 'DIFFERENT')),
  result text,
  expires_at timestamptz not null,
  ended_at timestamptz,
  created_at timestamptz not null,
  version integer not null default 1
);
create index firm_quotes_of_platform on firm_quotes (platform_id);
