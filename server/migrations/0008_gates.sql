-- Accounts that nothing new may move through, what their owners owe us, and why an operator moved one.

alter table ledger_accounts add column shut boolean not null default false;
-- What everybody pays through is never shut, so no payment needs to ask about it.
alter table ledger_accounts add constraint ledger_house_open check (floor is not null or not shut);

alter table internal_accounts add column owed bigint not null default 0 check (owed >= 0);

update ledger_accounts l set shut = true from internal_accounts a
  left join customers c on c.id = a.customer_id
  where l.id = a.id and (a.status <> 'ACTIVE' or c.deleted_at is not null);

-- Never changed: who moved an account by hand, and why.
create table account_moves (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  platform_id text collate "C" not null,
  actor text not null,
  move text not null,
  reason text,
  created_at timestamptz not null
);
create index account_moves_of_account on account_moves (account_id, created_at, id);
