-- After a crash PostgreSQL assigns the ids of transactions again whose records had not reached the disk: those
-- that were rolled back, and those that commit without waiting for the disk. Followers may have passed these ids,
-- so a recovery begins a new epoch as well. Recoveries reset this sequence because it is unlogged; otherwise its
-- value follows from the epoch.
create unlogged sequence event_epoch_mark;

create or replace function open_event_epoch() returns integer language plpgsql as $$
declare
  here constant text := (select system_identifier from pg_control_system()) || '/' ||
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
  latest event_epochs;
begin
  select * into latest from event_epochs order by epoch desc limit 1;
  if latest.cluster = here and (select last_value from event_epoch_mark) = latest.epoch + 2 then
    return latest.epoch;
  end if;
  -- Waits for transactions that have stored events, whose positions are of the epoch before.
  lock table events in access exclusive mode;
  select * into latest from event_epochs order by epoch desc limit 1;
  if latest.cluster = here and (select last_value from event_epoch_mark) = latest.epoch + 2 then
    return latest.epoch;
  end if;
  latest.epoch := coalesce(latest.epoch + 1, 0);
  insert into event_epochs (epoch, cluster) values (latest.epoch, here);
  execute format('alter table events alter column position
    set default %s + pg_current_xact_id()::text::bigint', latest.epoch::bigint << 44);
  -- Not undone by a rollback, after which the epoch does not match and the next call repeats this.
  perform setval('event_epoch_mark', latest.epoch + 2);
  return latest.epoch;
end $$;
