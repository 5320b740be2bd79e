-- Stored values under the field's standard terms.
update account_actions set action = 'reject' where action = 'refuse';
update jobs
  set input = ((input::jsonb - 'asked' - 'tries') || jsonb_strip_nulls(jsonb_build_object(
    'requested', input->'asked', 'attempts', input->'tries')))::json
  where kind = 'cards.pull' and (input->'asked' is not null or input->'tries' is not null);
