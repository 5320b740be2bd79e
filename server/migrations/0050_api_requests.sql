-- One row for each answered request of a platform, written in batches beside the requests. Kept for
-- 30 days. The primary key serves lists, single reads and the retention, which deletes the oldest rows
-- of each platform, so there is no index on the id or the time alone.
create table api_requests (
  id text collate "C" not null,
  platform_id text collate "C" not null,
  created_at timestamptz not null,
  operation_id text collate "C" not null,
  method text not null,
  path text not null,
  status integer not null,
  -- The status unless it is 200, which most requests have and the index omits.
  unusual_status integer,
  error_code text collate "C",
  -- Reason and details of an error reply, masked.
  error text,
  duration_us integer not null,
  caller_type text not null,
  token_id text collate "C",
  token_name text,
  agent_id text,
  address text,
  idempotency_key_hash text,
  -- True or null, so that the index has only replayed replies.
  replayed boolean,
  resource_id text collate "C",
  primary key (platform_id, created_at, id)
);
-- Without the id: the few rows of one millisecond are sorted. Tokens and resources belong to one
-- platform.
create index api_requests_token on api_requests (token_id, created_at) where token_id is not null;
create index api_requests_resource on api_requests (resource_id, created_at)
  where resource_id is not null;
create index api_requests_operation on api_requests (platform_id, operation_id, created_at);
create index api_requests_status on api_requests (platform_id, unusual_status, created_at)
  where unusual_status is not null;
create index api_requests_error on api_requests (platform_id, error_code, created_at)
  where error_code is not null;
create index api_requests_replayed on api_requests (platform_id, created_at)
  where replayed is not null;

-- Masked bodies of requests that write, for sandbox platforms and where an operator allowed it.
create table api_request_bodies (
  id text collate "C" not null,
  platform_id text collate "C" not null,
  created_at timestamptz not null,
  request_body text,
  request_truncated boolean not null,
  response_body text,
  response_truncated boolean not null,
  primary key (platform_id, created_at, id)
);

-- Until when bodies of a production platform are kept; null for never.
alter table platforms add column request_bodies_until timestamptz;
