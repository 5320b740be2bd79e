-- Webhook endpoints beside the one of the platform's configuration, which is number 0: its address is
-- `platforms.webhook_endpoint`, and it has a row here only if it has other settings.
create table webhook_endpoints (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  -- Not reused while a delivery refers to it.
  number integer not null,
  -- Null for an endpoint whose deliveries are pulled, and for number 0.
  url text,
  description text,
  -- A list; null for all types.
  event_types json,
  status text not null check (status in ('ENABLED', 'PAUSED')),
  status_reason text,
  status_changed_at timestamptz not null,
  standard_webhooks boolean not null,
  -- Signing keys with sealed secrets, the latest first.
  keys json not null,
  -- The first failed attempt since the last success.
  failing_since timestamptz,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create unique index webhook_endpoints_number on webhook_endpoints (platform_id, number);
create index webhook_endpoints_failing on webhook_endpoints (failing_since)
  where failing_since is not null;

-- One row for each endpoint and event.
alter table webhook_queue add column endpoint integer not null default 0;
alter table webhook_queue drop constraint webhook_queue_pkey;
alter table webhook_queue add primary key (platform_id, endpoint, event_id);
drop index webhook_queue_due;
create index webhook_queue_due on webhook_queue (platform_id, endpoint, due_at, event_id);

-- The key of an attempt also finds the deliveries of a platform and of an endpoint, in the order of
-- their events.
alter table webhook_attempts rename to webhook_attempts_before;
create table webhook_attempts (
  platform_id text collate "C" not null,
  endpoint integer not null default 0,
  event_id text collate "C" not null,
  attempt integer not null,
  at timestamptz not null,
  -- Null if there was no response; `error` is the reason. Both are null for a pulled delivery.
  status integer,
  error text,
  ms integer not null,
  -- Selected headers of the response, as JSON, and the first 1 KB of its body.
  head text,
  response text,
  -- `dropped` becomes `retry` if the event is sent again.
  result text not null check (result in ('delivered', 'retry', 'dropped'))
);
insert into webhook_attempts
    (platform_id, event_id, attempt, at, status, error, ms, response, result)
  select e.platform_id, a.event_id, a.attempt, a.at, a.status, a.error, a.ms, a.response,
    case when a.result = 'dropped' and (exists (select from webhook_queue q where q.event_id = e.id)
        or exists (select from webhook_attempts_before b
          where b.event_id = a.event_id and b.attempt > a.attempt
            and b.id > a.event_id || '/' and b.id < a.event_id || '0'))
      then 'retry' else a.result end
  from webhook_attempts_before a join events e on e.id = a.event_id;
drop table webhook_attempts_before;
alter table webhook_attempts add primary key (platform_id, endpoint, event_id, attempt);
create index webhook_attempts_dropped on webhook_attempts (platform_id, endpoint, event_id)
  where result = 'dropped';
