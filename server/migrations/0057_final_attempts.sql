-- The last attempt of a delivery that left the queue undelivered, because its endpoint was removed or its
-- data erased, has failed for good. From now on the statements that remove it do so.
update webhook_attempts a set result = 'dropped'
where a.result = 'retry'
  and not exists (select from webhook_queue q where q.platform_id = a.platform_id
    and q.endpoint = a.endpoint and q.event_id = a.event_id)
  and not exists (select from webhook_attempts b where b.platform_id = a.platform_id
    and b.endpoint = a.endpoint and b.event_id = a.event_id and b.attempt > a.attempt);
