-- What lies in storage and whose it is. A row is there before its object and goes after it.

create table files (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  state text not null check (state in ('UPLOADING', 'KEPT', 'GONE')),
  size bigint,
  sha256 text,
  created_at timestamptz not null,
  version integer not null default 1
);
create index files_unkept on files (created_at) where state = 'UPLOADING';
