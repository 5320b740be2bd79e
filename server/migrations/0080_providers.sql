-- Providers that speak the protocol for providers, their keys, the rules that select one for a
-- transfer, the selected one of each transfer, and the messages that they sent.
create table providers (
  -- Name, chosen by the operator; a part of the address at which messages are received.
  id text collate "C" primary key,
  environment text not null check (environment in ('sandbox', 'production')),
  url text not null,
  private_address boolean not null,
  status text not null check (status in ('ACTIVE', 'PAUSED')),
  -- JSON of what the provider offers; null until its first check.
  capabilities text,
  checked_at timestamptz,
  -- Why the last check failed; null if it succeeded.
  problem text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);

create table provider_keys (
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  -- OWN signs calls to the provider, PROVIDER verifies its messages.
  side text not null check (side in ('OWN', 'PROVIDER')),
  public_key text not null,
  -- PKCS #8 DER, sealed; null for a key of the provider.
  private_key text,
  active_from timestamptz not null,
  retired_at timestamptz,
  created_at timestamptz not null,
  version integer not null,
  check ((side = 'OWN') = (private_key is not null))
);
create index provider_keys_provider on provider_keys (provider_id);

create table provider_routes (
  id text collate "C" primary key,
  -- Null for the built-in rail of the environment.
  provider_id text collate "C",
  environment text not null check (environment in ('sandbox', 'production')),
  priority integer not null,
  platform_id text collate "C",
  kind text check (kind in ('payout', 'debit', 'refund')),
  rail text,
  currency text,
  min_amount bigint,
  max_amount bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);

-- `id` is that of the instruction. It is written before the first call, so that every later call of
-- the same transfer goes to the same provider.
create table provider_transfers (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider_id text collate "C",
  route_id text collate "C",
  created_at timestamptz not null
);

create table provider_messages (
  -- Provider and the ID that it assigned.
  id text collate "C" primary key,
  provider_id text collate "C" not null,
  platform_id text collate "C",
  type text,
  transaction_id text collate "C",
  -- SHA-256 of the body, hex.
  digest text not null,
  result text not null check (result in ('APPLIED', 'IGNORED', 'REJECTED', 'CONTRADICTORY')),
  problem text,
  -- The body of a message that had no effect; sealed.
  body text,
  created_at timestamptz not null
);
create index provider_messages_created on provider_messages (created_at, id);
create index provider_messages_provider on provider_messages (provider_id, created_at, id);
create index provider_messages_problems on provider_messages (created_at, id)
  where result in ('REJECTED', 'CONTRADICTORY');
