-- Operators find customers by the platform's ID on all platforms, and external accounts by the name of their
-- beneficiary. The details of external accounts are not encrypted, so the name needs no keyed hash; the
-- expression is empty after an erasure.
create index customers_of_any_platform on customers (platform_customer_id);
create index external_accounts_beneficiary on external_accounts
  (left(upper(regexp_replace(trim(coalesce(info #>> '{beneficiary,fullName}', info #>> '{beneficiary,legalName}')),
    '\s+', ' ', 'g')), 255), created_at, id)
  where info #>> '{beneficiary,fullName}' is not null or info #>> '{beneficiary,legalName}' is not null;
