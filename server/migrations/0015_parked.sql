-- Money in suspense, for an operator to decide about; the id is the transaction's. Apart from rail_waits,
-- because a payment may wait for word about its payout while the pull that paid for it was taken back.
create table parked (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  since timestamptz not null,
  version integer not null default 1
);
create index parked_since on parked (since, id);

-- What was parked before there was a list.
insert into parked (id, platform_id, since)
  select id, platform_id, updated_at from transactions where funds = 'PARKED';
insert into parked (id, platform_id, since)
  select t.id, t.platform_id, f.created_at
    from transactions t join ledger_transfers f on f.transaction_id = t.id and f.step = 'return'
    where t.type = 'OUTGOING' and t.funded_amount is not null and f.debit like 'house:%:suspense:%'
  on conflict do nothing;
