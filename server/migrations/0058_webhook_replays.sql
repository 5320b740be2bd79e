-- Events of a time range that are sent to a webhook endpoint again, with the progress of the job.
create table webhook_replays (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- Number of the endpoint.
  endpoint integer not null,
  scope text not null check (scope in ('UNDELIVERED', 'ALL')),
  from_time timestamptz not null,
  to_time timestamptz not null,
  status text not null check (status in ('PROCESSING', 'COMPLETED', 'FAILED')),
  -- Events when it was created, and those that were queued.
  total integer not null,
  done integer not null,
  -- The last event that was queued.
  place text,
  failure_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index webhook_replays_page on webhook_replays (platform_id, created_at, id);
create index webhook_replays_active on webhook_replays (platform_id, endpoint)
  where status = 'PROCESSING';
create index webhook_replays_created on webhook_replays (created_at);
