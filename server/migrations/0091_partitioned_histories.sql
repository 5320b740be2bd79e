-- Each history is a partitioned table. Its partitions, one for each week, are in a schema of their own and are
-- created and removed by the server (runtime/db/partitions/). A row for which there is no partition is stored
-- in the default partition until its partition is created, so that no insert fails.
--
-- Rows are not copied, and the bounds were checked before, so the locks are short. Statements that wait for one
-- of the tables are executed afterwards.
do $$
declare history history_bounds;
begin
  for history in select * from history_bounds order by name loop
    execute format('alter table %I set schema partitions', history.name);
    execute format('alter table partitions.%I rename to %I', history.name, history.name || '_before');
    execute format('create table %I (like partitions.%I including defaults including constraints
      including storage) partition by range (%I)', history.name, history.name || '_before', history.key);
    if history.bound is not null then
      execute format('alter table %I drop constraint %I', history.name, history.name || '_until');
    end if;
  end loop;
end $$;

alter table events add primary key (id);
create index events_order on events (hashtext(platform_id), position,
  ((hashtext(type) & 32767)::smallint), customer_key, ((hashtext(subject) & 32767)::smallint));

alter table webhook_attempts add primary key (platform_id, endpoint, event_id, attempt);
create index webhook_attempts_dropped on webhook_attempts (platform_id, endpoint, event_id)
  where result = 'dropped';
create index webhook_attempts_dropped_order on webhook_attempts (event_id, endpoint)
  where result = 'dropped';

create unique index api_requests_order on api_requests
  (platform_id, created_at, id, status, operation_hash, token_hash);
create index api_requests_resource on api_requests (resource_id, created_at)
  where resource_id is not null;
create index api_requests_failed on api_requests (platform_id, failed_status, created_at)
  where failed_status is not null;
create index api_requests_error on api_requests (platform_id, error_code, created_at)
  where error_code is not null;
create index api_requests_replayed on api_requests (platform_id, created_at)
  where replayed is not null;
create index api_requests_time on api_requests (created_at);

alter table api_request_bodies add primary key (platform_id, created_at, id);

create unique index api_request_reads_order on api_request_reads (platform_id, last_at, last_id);
create index api_request_reads_time on api_request_reads (last_at, first_at);

-- The indexes of the rows are those of the table above and are not created again.
do $$
declare history history_bounds;
begin
  for history in select * from history_bounds order by name loop
    if history.bound is null then
      execute format('drop table partitions.%I', history.name || '_before');
    else
      execute format('alter table %I attach partition partitions.%I for values from (minvalue) to (%L)',
        history.name, history.name || '_before', history.bound);
      execute format('alter table partitions.%I drop constraint %I',
        history.name || '_before', history.name || '_until');
    end if;
    execute format('create table %I.%I partition of %I default',
      'partitions', history.name || '_default', history.name);
  end loop;
end $$;

drop table history_bounds;
