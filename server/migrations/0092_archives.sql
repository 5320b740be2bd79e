-- Partitions that were removed from their table after the retention period, and the files with their rows.
create table archives (
  id text collate "C" primary key,
  -- The table, and the name of its partition.
  history text not null,
  partition text not null unique,
  -- Times of the rows: from the first, before the second. The first is null for rows of an earlier version.
  from_time timestamptz,
  until_time timestamptz not null,
  -- DETACHED: the rows are still in the database. STORED: they are in the file only. REMOVED: the file too.
  state text not null check (state in ('DETACHED', 'STORED', 'REMOVED')),
  -- The object in the storage of files. Before STORED, the object of an attempt.
  object text,
  -- The key of the file, sealed under the master key.
  file_key text,
  rows bigint,
  bytes bigint,
  -- Of the compressed rows.
  sha256 text,
  created_at timestamptz not null,
  stored_at timestamptz,
  removed_at timestamptz
);
create index archives_order on archives (until_time desc, id desc);
