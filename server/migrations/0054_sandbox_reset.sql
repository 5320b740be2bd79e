-- The reset of a sandbox platform removes its rows. It alone sets this parameter, for its own transaction; everything
-- else still cannot change or remove rows that are never changed.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('railhead.sandbox_reset', true) = 'on' then
    return null;
  end if;
  raise exception '% rows are never changed', tg_table_name;
end $$;
