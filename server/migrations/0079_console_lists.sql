-- The outcome of what an audit record is about: WAITING_FOR_APPROVAL or the code of an error; null if it
-- succeeded, as in all records before this version.
alter table operator_audit add column outcome text;

-- Operators list the wallets of a platform or of all platforms, newest first.
create index wallets_of_platform on wallets (platform_id, created_at, id);
create index wallets_in_order on wallets (created_at, id);
