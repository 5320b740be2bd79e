-- Operators find customers by name. Names are encrypted, so the keyed hashes of the whole name and of each word are
-- stored beside the hashes of e-mail address, telephone number and identity number. Null: not computed yet, or erased.
alter table customers add column name_digests text[];
alter table beneficial_owners add column name_digests text[];
create index customers_name_digests on customers using gin (name_digests);
create index beneficial_owners_name_digests on beneficial_owners using gin (name_digests);
-- Rows of an earlier version, until their hashes are computed; empty afterwards.
create index customers_unindexed on customers (id) where name_digests is null and data_key is not null;
create index beneficial_owners_unindexed on beneficial_owners (id) where name_digests is null and personal is not null;

-- The last characters of an account number or address, without separators. The details are not encrypted, and their
-- erasure removes this value as well.
alter table external_accounts add column suffix text collate "C" generated always as (
  nullif(upper(right(regexp_replace(coalesce(info ->> 'iban', info ->> 'accountNumber', info ->> 'clabeNumber',
    info ->> 'address', info ->> 'pixKey', info ->> 'vpa', info ->> 'phoneNumber', ''), '[^A-Za-z0-9]', '', 'g'), 4)), '')
) stored;
create index external_accounts_suffix on external_accounts (suffix, created_at, id)
  where suffix is not null;
create index cards_last4 on cards (last4, created_at, id) where last4 is not null;
