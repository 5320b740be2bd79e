-- Deliveries of endpoints without an address are pulled, in the order of `events.position`: below the oldest
-- transaction in progress no delivery is added any more. Deliveries that are sent have no position.
alter table webhook_queue add column position bigint;
create index webhook_queue_pulled on webhook_queue (platform_id, endpoint, position, event_id)
  where position is not null;

-- The position of the current transaction.
create function event_position() returns bigint language sql volatile as $$
  select (coalesce((select max(epoch) from event_epochs), 0)::bigint << 44)
    + pg_current_xact_id()::text::bigint
$$;
