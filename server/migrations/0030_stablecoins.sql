-- Stablecoins that platforms issue through a provider: who they are to it, their tokens, and every mint and burn.

create table stablecoin_provider_accounts (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider text not null,
  provider_account_id text collate "C" not null,
  provider_environment text not null,
  status text not null check (status in ('ACTIVE', 'INVALID', 'REVOKED')),
  -- Sealed under the master key.
  credentials text not null,
  last_verified_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index stablecoin_provider_accounts_of_platform
  on stablecoin_provider_accounts (platform_id, created_at, id);
create unique index stablecoin_provider_accounts_linked
  on stablecoin_provider_accounts (platform_id, provider, provider_account_id);

create table stablecoins (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider_account text collate "C" not null,
  name text not null,
  symbol text collate "C" not null,
  base_currency text not null,
  network text not null,
  decimals integer not null,
  issuance_status text not null
    check (issuance_status in ('PENDING_REVIEW', 'PROVISIONING', 'PROVISIONED', 'REJECTED', 'FAILED')),
  service_status text not null
    check (service_status in ('NOT_ENABLED', 'PENDING_APPROVAL', 'ENABLING', 'ENABLED', 'DISABLED')),
  network_token_identifier text collate "C" not null,
  provider_token_identifier text collate "C" not null,
  -- How often it was arranged that the provider is asked about its issuance: the last time counts.
  follows integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index stablecoins_of_platform on stablecoins (platform_id, created_at, id);
-- What was never issued takes nobody's name.
create unique index stablecoins_symbol on stablecoins (platform_id, symbol)
  where issuance_status not in ('REJECTED', 'FAILED');
create unique index stablecoins_token on stablecoins (platform_id, network_token_identifier)
  where issuance_status not in ('REJECTED', 'FAILED');
create index stablecoins_in_order on stablecoins (created_at, id);
create index stablecoins_by_service_status on stablecoins (service_status, created_at, id);

create table stablecoin_operations (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  stablecoin_id text collate "C" not null,
  provider_account text collate "C" not null,
  type text not null check (type in ('MINT', 'BURN')),
  status text not null check (status in
    ('CREATED', 'PENDING_FUNDING', 'PENDING_PROVIDER', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED')),
  -- Smallest units of the token.
  amount bigint not null check (amount > 0),
  source json not null,
  destination json not null,
  funding_instructions json,
  estimated_delivery json,
  expires_at timestamptz,
  provider_status text,
  failure_reason text,
  description text,
  -- When we began to hand it to the provider.
  submitted_at timestamptz,
  -- When it became EXPIRED; whatever moves for it later does so under a step of its own.
  expired_at timestamptz,
  -- How much of it the books could not follow, as no more circulated when it was paid after all.
  uncounted bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index stablecoin_operations_of_coin on stablecoin_operations (stablecoin_id, created_at, id);
create index stablecoin_operations_of_coin_by_type
  on stablecoin_operations (stablecoin_id, type, created_at, id);
create index stablecoin_operations_of_platform on stablecoin_operations (platform_id, created_at, id);
create index stablecoin_operations_in_order on stablecoin_operations (created_at, id);
create index stablecoin_operations_by_status on stablecoin_operations (status, created_at, id);

-- External accounts as a provider knows them; made when first used.
create table stablecoin_links (
  -- The provider account, the external account and what it is used for.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  provider_account text collate "C" not null,
  account_id text collate "C" not null,
  -- The provider's name for it.
  reference text not null,
  created_at timestamptz not null
);
create index stablecoin_links_of_account on stablecoin_links (account_id);
