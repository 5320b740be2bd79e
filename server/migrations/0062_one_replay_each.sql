-- An endpoint has at most one replay in progress. Of several, the newest continues.
update webhook_replays r set status = 'FAILED', version = version + 1,
    failure_reason = 'Another replay to this endpoint was in progress.'
  where status = 'PROCESSING' and exists (select from webhook_replays n
    where n.platform_id = r.platform_id and n.endpoint = r.endpoint and n.status = 'PROCESSING'
      and (n.created_at, n.id) > (r.created_at, r.id));
drop index webhook_replays_active;
create unique index webhook_replays_active on webhook_replays (platform_id, endpoint)
  where status = 'PROCESSING';
