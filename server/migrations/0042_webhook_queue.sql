-- What is still to be delivered, one narrow row per event. Events are written once and not changed by their
-- delivery: with the queue in their own columns each delivery wrote the whole event again.
create table webhook_queue (
  event_id text collate "C" primary key,
  platform_id text collate "C" not null,
  due_at timestamptz not null,
  -- Attempts made so far.
  attempts integer not null default 0
);
create index webhook_queue_due on webhook_queue (platform_id, due_at, event_id);

insert into webhook_queue (event_id, platform_id, due_at, attempts)
  select e.id, e.platform_id, e.due_at, e.attempts from events e
    join platforms p on p.id = e.platform_id and p.webhook_endpoint is not null
  where e.due_at is not null;

drop index events_due;
alter table events drop column due_at, drop column attempts;
alter table events set (fillfactor = 100);
