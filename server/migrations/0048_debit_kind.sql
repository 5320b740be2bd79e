-- The kind of a transfer that collects funds from an external account is `debit`. The ids of results
-- contain the kind.
alter table awaited_rail_results drop constraint awaited_rail_results_kind_check;
update awaited_rail_results set kind = 'debit' where kind = 'pull';
alter table awaited_rail_results
  add constraint awaited_rail_results_kind_check check (kind in ('payout', 'debit', 'refund'));
update rail_results set kind = 'debit', id = replace(id, '/pull/', '/debit/') where kind = 'pull';
