-- Providers mint and burn. An account has the provider with which it was linked, also if the route changes;
-- null for the built-in connector. Two providers can have accounts with the same ID.
alter table stablecoin_provider_accounts add column provider_id text collate "C";
drop index stablecoin_provider_accounts_linked;
create unique index stablecoin_provider_accounts_linked
  on stablecoin_provider_accounts (platform_id, provider, provider_account_id, coalesce(provider_id, ''));
