-- Imports of customers from files, and what was wrong with their rows.

create table imports (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  status text not null,
  file_id text collate "C",
  file_key text,
  columns json not null,
  problem json,
  total integer not null,
  next_byte bigint not null,
  successful integer not null,
  failed integer not null,
  created_at timestamptz not null,
  completed_at timestamptz,
  version integer not null default 1
);
create index imports_of_platform on imports (platform_id, created_at, id);

create table import_errors (
  id text collate "C" primary key,
  import_id text collate "C" not null,
  row integer not null,
  correlation_id text not null,
  code text not null,
  message text not null,
  details json not null
);
create index import_errors_of_import on import_errors (import_id, row);
