-- Keys that seal the secrets of the installation, each sealed under one or two master keys. Without a row the
-- master key seals them itself, as key 0. A number has one row for each master key that opens it.
create table data_keys (
  -- Number and master key.
  id text collate "C" primary key,
  number integer not null,
  -- ID of the master key, which is derived from it.
  master_key text not null,
  sealed text not null,
  created_at timestamptz not null,
  -- Seals from then on, until a key with a higher number does.
  active_from timestamptz not null,
  version integer not null default 1
);

-- The key of audit records that concern no customer. Records are never changed, so they are sealed under a key
-- that a rotation seals again.
create table operator_data_keys (
  id text collate "C" primary key,
  data_key text not null
);
