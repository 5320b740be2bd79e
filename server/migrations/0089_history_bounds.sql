-- Histories become partitions by week of real time. The rows of a table are its first partition, without a copy.
-- This states the upper bound of that partition: the first Monday at least two days after the latest row, so
-- that rows added meanwhile by a server of the previous version are below it too. The next migration checks the
-- rows while the table is in use.
create schema partitions;

create table history_bounds (
  name text primary key,
  key text not null,
  -- Null for an empty table.
  bound text
);
insert into history_bounds values ('events', 'id', null), ('webhook_attempts', 'event_id', null),
  ('api_requests', 'created_at', null), ('api_request_bodies', 'created_at', null),
  ('api_request_reads', 'last_at', null);

create function monday_after(latest timestamptz) returns timestamptz immutable language sql as $$
  select timestamptz '1970-01-05 00:00:00+00' + interval '168 hours' * (1 + floor(
    (extract(epoch from latest) + 2 * 86400 - 4 * 86400) / (7 * 86400)))
$$;

-- Ids of events begin with the time.
update history_bounds set bound = (
  select 'Webhook:' || left(hex, 8) || '-' || right(hex, 4) from (
    select lpad(to_hex((extract(epoch from monday_after(to_timestamp(
      ('x' || lpad(translate(substr(id, 9, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0)))
      * 1000)::bigint), 12, '0') as hex
    from (select id from events where id ~ '^Webhook:[0-9a-f]{8}-[0-9a-f]{4}-' order by id desc limit 1) e) h)
  where name in ('events', 'webhook_attempts');
-- Other ids, which no version has created, are all in the first partition.
update history_bounds set bound = '~' where name in ('events', 'webhook_attempts') and (
  exists (select from events where id >= coalesce(bound, ''))
  or exists (select from webhook_attempts where event_id >= coalesce(bound, '')));

update history_bounds set bound = monday_after((select max(at) from (
    select max(created_at) as at from api_requests
    union all select max(last_at) from api_request_reads
    union all select max(b.created_at) from platforms p cross join lateral (
      select created_at from api_request_bodies where platform_id = p.id order by created_at desc limit 1) b
  ) latest))::text
  where name like 'api_request%';

do $$
declare history history_bounds;
begin
  for history in select * from history_bounds where bound is not null loop
    execute format('alter table %I add constraint %I check (%I < %L) not valid',
      history.name, history.name || '_until', history.key, history.bound);
  end loop;
end $$;
drop function monday_after;
