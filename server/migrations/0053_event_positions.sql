-- The order in which events can be followed. `position` is the id of the transaction that stored the event:
-- all events with a lower position than the oldest transaction in progress are committed, so a reader that
-- stops there misses none, whatever the order of commits.
alter table events add column position bigint;
-- Rows of older versions come first, in the order of their seconds.
alter table events alter column position type bigint
  using floor(extract(epoch from created_at))::bigint - 10000000000;
alter table events alter column position set not null;
alter table events alter column position set default pg_current_xact_id()::text::bigint;
-- 15 bits of the hash of the customer that the event is about; null if there is none. A reader compares the
-- customer itself.
alter table events add column customer_key smallint;

-- The only index beside the primary key: the events of a platform in their order. The last three columns
-- let a filter skip entries without reading rows.
create index events_order on events (hashtext(platform_id), position,
  ((hashtext(type) & 32767)::smallint), customer_key, ((hashtext(subject) & 32767)::smallint));

-- Transaction ids begin again in another cluster and may repeat on another timeline. Each such change adds
-- 2^44 to all later positions.
create table event_epochs (
  epoch integer primary key,
  cluster text not null
);

create function open_event_epoch() returns integer language plpgsql as $$
declare
  here constant text := (select system_identifier from pg_control_system()) || '/' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  latest event_epochs;
begin
  select * into latest from event_epochs order by epoch desc limit 1;
  if latest.cluster = here then return latest.epoch; end if;
  -- Waits for transactions that have stored events, whose positions are of the epoch before.
  lock table events in access exclusive mode;
  select * into latest from event_epochs order by epoch desc limit 1;
  if latest.cluster = here then return latest.epoch; end if;
  latest.epoch := coalesce(latest.epoch + 1, 0);
  insert into event_epochs (epoch, cluster) values (latest.epoch, here);
  execute format('alter table events alter column position
    set default %s + pg_current_xact_id()::text::bigint', latest.epoch::bigint << 44);
  return latest.epoch;
end $$;

-- All events with a lower position are committed.
create function event_horizon() returns bigint language sql stable as $$
  select (coalesce((select max(epoch) from event_epochs), 0)::bigint << 44)
    + pg_snapshot_xmin(pg_current_snapshot())::text::bigint
$$;
