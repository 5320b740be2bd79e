-- Platforms, their tokens and customers, and the accounts of both.

create table platforms (
  id text collate "C" primary key,
  name text not null,
  environment text not null check (environment in ('sandbox', 'production')),
  regulated boolean not null,
  skip_paperwork boolean not null,
  sca boolean not null,
  terms_gate boolean not null,
  uma_domain text not null,
  proxy_uma_subdomain text not null,
  webhook_endpoint text,
  currencies json not null,
  wallet_config json,
  card_config json,
  fees json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);

create table tokens (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  name text not null,
  permissions json not null,
  client_id text not null,
  secret_hash text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index tokens_client_id on tokens (client_id);
create index tokens_of_platform on tokens (platform_id, created_at, id);

create table customers (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  platform_customer_id text not null,
  type text not null check (type in ('INDIVIDUAL', 'BUSINESS')),
  status text not null,
  uma_address text not null,
  region text,
  currencies json,
  email text,
  phone text,
  contact_verification json,
  terms_consent json,
  identifier text,
  details json not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index customers_platform_customer_id on customers (platform_id, platform_customer_id)
  where deleted_at is null;
create unique index customers_uma_address on customers (uma_address);
create index customers_of_platform on customers (platform_id, created_at, id);

create table internal_accounts (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C",
  currency text not null,
  type text not null,
  status text not null,
  funding json not null,
  private_enabled boolean,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index internal_accounts_one_each
  on internal_accounts (platform_id, coalesce(customer_id, ''), currency, type)
  where status <> 'CLOSED';
create index internal_accounts_of_platform on internal_accounts (platform_id, created_at, id);
create index internal_accounts_of_customer on internal_accounts (customer_id, created_at, id);

create table external_accounts (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C",
  currency text not null,
  account_type text not null,
  status text not null,
  platform_account_id text,
  ownership_type text,
  default_uma boolean not null,
  beneficiary_status text,
  verified_name text,
  info json not null,
  duplicate_key text not null,
  trusted_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index external_accounts_same
  on external_accounts (platform_id, coalesce(customer_id, ''), duplicate_key)
  where deleted_at is null;
create unique index external_accounts_default on external_accounts (customer_id) where default_uma;
create index external_accounts_of_platform on external_accounts (platform_id, created_at, id);
create index external_accounts_of_customer on external_accounts (customer_id, created_at, id);
