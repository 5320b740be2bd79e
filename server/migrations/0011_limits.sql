-- What an operator lets each platform send, at once and in a day; and indexes by which every list is a walk
-- from the place where the page begins. None of them holds a column of transactions that changes.

alter table platforms add column limits json not null default '[]';

create index transactions_own on transactions (platform_id, created_at, id) where customer_id is null;
create index customers_named on customers (platform_id, platform_customer_id);
create index internal_accounts_own on internal_accounts (platform_id, created_at, id)
  where customer_id is null;
create index internal_accounts_in on internal_accounts (platform_id, currency, created_at, id);
create index external_accounts_own on external_accounts (platform_id, created_at, id)
  where customer_id is null;
create index external_accounts_in on external_accounts (platform_id, currency, created_at, id);
