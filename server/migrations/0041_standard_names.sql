-- Tables, columns, stored values and system accounts under the field's standard terms. Nothing changes its
-- meaning, so versions stay. The one slow part is the copy of ledger_transfers, whose rows cannot be updated.

alter table parked rename to suspense_items;
alter index parked_pkey rename to suspense_items_pkey;
alter index parked_since rename to suspense_items_since;

alter table tries rename to attempt_limits;
alter index tries_pkey rename to attempt_limits_pkey;
alter index tries_age rename to attempt_limits_age;

alter table sca_standings rename to sca_lockouts;
alter index sca_standings_pkey rename to sca_lockouts_pkey;
alter table sca_lockouts
  rename constraint sca_standings_failed_attempts_check to sca_lockouts_failed_attempts_check;

alter table account_moves rename to account_actions;
alter table account_actions rename column move to action;
alter index account_moves_pkey rename to account_actions_pkey;
alter index account_moves_of_account rename to account_actions_of_account;
-- They are listed in the order of their ids, so old and new ones need the same prefix.
update account_actions set id = replace(id, 'AccountMove:', 'AccountAction:');

alter table lookups rename to payee_discoveries;
alter index lookups_pkey rename to payee_discoveries_pkey;
alter index lookups_expiry rename to payee_discoveries_expiry;

alter table done_once rename to bootstrap_steps;
alter index done_once_pkey rename to bootstrap_steps_pkey;

alter table rail_waits rename to awaited_rail_results;
alter index rail_waits_pkey rename to awaited_rail_results_pkey;
alter index rail_waits_since rename to awaited_rail_results_since;
alter table awaited_rail_results rename constraint rail_waits_kind_check to awaited_rail_results_kind_check;

alter table rail_notices rename to rail_results;
alter index rail_notices_pkey rename to rail_results_pkey;
update rail_results set kind = 'suspense', id = replace(id, '/parked/', '/suspense/') where kind = 'parked';

alter index verifications_standing rename to verifications_current;
alter table credentials rename column slot to uniqueness_key;
alter index credentials_slot rename to credentials_uniqueness_key;
alter table transactions rename column carrier to rail_payload;
alter table transactions rename column card_pulls to card_funding_debits;
alter table transactions rename column card_pull_statuses to card_funding_debit_statuses;
alter table ledger_accounts rename column shut to frozen;
alter table ledger_accounts rename constraint ledger_house_open to ledger_system_account_not_frozen;

update transactions set funds = case funds when 'HANDED' then 'SUBMITTED' else 'SUSPENSE' end
  where funds in ('HANDED', 'PARKED');

alter table sca_challenges drop constraint sca_challenges_status_check;
update sca_challenges set status = 'EXPIRED' where status = 'LAPSED';
alter table sca_challenges add constraint sca_challenges_status_check
  check (status in ('PENDING', 'SATISFIED', 'REPLACED', 'EXPIRED'));

create function job_kind_renamed(kind text) returns text immutable language sql as $$
  select case kind
    when 'incoming.lapse' then 'incoming.expire'
    when 'incoming.pass-on' then 'incoming.forward'
    when 'incoming.pull' then 'incoming.debit'
    when 'incoming.send-back' then 'incoming.return'
    when 'incoming.held-long' then 'incoming.review-expiry'
    else kind end $$;
update jobs set kind = job_kind_renamed(kind) where kind <> job_kind_renamed(kind);
update job_cancellations set kind = job_kind_renamed(kind) where kind <> job_kind_renamed(kind);
drop function job_kind_renamed;

-- house:MODE:clearing:CURRENCY is system:MODE:rail_in_transit:CURRENCY; volume: and volume. are velocity.
create function account_renamed(id text) returns text immutable language sql as $$
  select case
    when id like 'house:%:clearing:%' then
      'system:' || split_part(id, ':', 2) || ':rail_in_transit:' || split_part(id, ':', 4)
    when id like 'house:%:settled:%' then
      'system:' || split_part(id, ':', 2) || ':external_settlement:' || split_part(id, ':', 4)
    when id like 'house:%:exchange:%' then
      'system:' || split_part(id, ':', 2) || ':fx_position:' || split_part(id, ':', 4)
    when id like 'house:%' then 'system:' || substr(id, 7)
    when id like 'volume:%' then 'velocity:' || substr(id, 8)
    else id end $$;
create function unit_renamed(currency text) returns text immutable language sql as $$
  select case when currency like 'volume.%' then 'velocity.' || substr(currency, 8) else currency end $$;

update ledger_accounts set id = account_renamed(id), currency = unit_renamed(currency)
  where id like 'house:%' or id like 'volume:%' or currency like 'volume.%';

alter table ledger_transfers rename to ledger_transfers_before;
create table ledger_transfers (
  transaction_id text collate "C" not null,
  step text collate "C" not null,
  phase text not null,
  debit text collate "C" not null,
  credit text collate "C" not null,
  currency text not null,
  amount bigint not null,
  created_at timestamptz not null
);
insert into ledger_transfers
  select transaction_id, regexp_replace(step, '^(refund\.)?volume\M', '\1velocity'),
    case phase when 'release' then 'void' else phase end,
    account_renamed(debit), account_renamed(credit), unit_renamed(currency), amount, created_at
  from ledger_transfers_before;

do $$ begin
  if exists (select from (
    select count(*) as n, coalesce(sum(amount), 0) as total from ledger_transfers_before) was,
    (select count(*) as n, coalesce(sum(amount), 0) as total from ledger_transfers) is_now
    where (was.n, was.total) <> (is_now.n, is_now.total)) then
    raise exception 'the copy of ledger_transfers differs';
  end if;
end $$;
drop table ledger_transfers_before;
drop function account_renamed, unit_renamed;

alter table ledger_transfers
  add primary key (transaction_id, step),
  add constraint ledger_transfers_phase_check check (phase in ('posted', 'pending', 'post', 'void')),
  add constraint ledger_transfers_amount_check check (amount > 0),
  add constraint ledger_transfers_check check (debit <> credit);
create index ledger_transfers_age on ledger_transfers using brin (created_at);
create trigger ledger_transfers_immutable before update or delete on ledger_transfers
  for each statement execute function refuse_change();
