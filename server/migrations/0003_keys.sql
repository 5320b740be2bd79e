-- Keys that sign webhooks, and marks of what is done once in the life of an installation.

-- private_key is sealed under the operator's master key; public_key is SPKI PEM. At a rotation the old key
-- stays as retired, so that what it signed can still be checked.
create table signing_keys (
  id text collate "C" primary key,
  environment text not null check (environment in ('sandbox', 'production')),
  algorithm text not null check (algorithm in ('P-256', 'Ed25519')),
  status text not null check (status in ('active', 'retired')),
  public_key text not null,
  private_key text not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  version integer not null default 1
);
create unique index signing_keys_active on signing_keys (environment, algorithm)
  where status = 'active';

-- Two servers that start together on an empty database must not both create the first platform.
create table done_once (
  id text collate "C" primary key,
  subject text collate "C" not null,
  created_at timestamptz not null
);
