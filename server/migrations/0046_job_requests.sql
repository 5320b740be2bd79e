-- Jobs that wait for a result of a rail or provider name their next step `request`. Without this a
-- pending check would be read as a submission.
update jobs
  set input = ((input::jsonb - 'ask') || jsonb_build_object('request', input->'ask'))::json
  where input->'ask' is not null;
