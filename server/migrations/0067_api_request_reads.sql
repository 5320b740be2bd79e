-- Successful reads, which most requests are: those of a platform in a batch are one row instead of one
-- each. `shapes` is JSON with the values that requests share; `entries` has the id, the duration and the
-- position of the shape of each request. The times of one row are at most ten seconds apart.
create table api_request_reads (
  platform_id text collate "C" not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  last_id text collate "C" not null,
  shapes text not null,
  entries bytea not null,
  operation_hashes bigint[] not null,
  token_hashes bigint[] not null
);
create unique index api_request_reads_order on api_request_reads (platform_id, last_at, last_id);
