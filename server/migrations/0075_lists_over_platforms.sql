-- The order of lists over all platforms. An entry by time alone is narrow and always the last of its index;
-- the few rows of one millisecond are sorted. It also finds the oldest rows for the retention.
create index api_requests_time on api_requests (created_at);
-- With the first time, because a list skips rows whose requests are all later than its position.
create index api_request_reads_time on api_request_reads (last_at, first_at);
-- Failed deliveries only, so that others cost nothing.
create index webhook_attempts_dropped_order on webhook_attempts (event_id, endpoint)
  where result = 'dropped';
