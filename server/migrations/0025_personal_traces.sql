-- What is personal leaves fewer traces: events are sealed until they are sent, customers are found by keyed
-- hashes, and what was erased is written down.

alter table customers add column email_digest text;
alter table customers add column phone_digest text;
alter table customers add column identifier_digest text;
create index customers_email_digest on customers (email_digest) where email_digest is not null;
create index customers_phone_digest on customers (phone_digest) where phone_digest is not null;
create index customers_identifier_digest on customers (identifier_digest)
  where identifier_digest is not null;

alter table beneficial_owners add column email_digest text;
alter table beneficial_owners add column phone_digest text;
alter table beneficial_owners add column identifier_digest text;
create index beneficial_owners_email_digest on beneficial_owners (email_digest)
  where email_digest is not null;
create index beneficial_owners_phone_digest on beneficial_owners (phone_digest)
  where phone_digest is not null;
create index beneficial_owners_identifier_digest on beneficial_owners (identifier_digest)
  where identifier_digest is not null;

-- Those that an older version wrote and that wait to be sealed; empty ever after.
create index customers_unsealed on customers (id) where details is not null;

-- The customer under whose data key the event's data is sealed; null where it lies in clear.
alter table events add column sealed_for text collate "C";

-- Whose personal data was erased; the id is the customer's. Without a finish it was interrupted, and is to
-- be run again.
create table erasures (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  actor text not null,
  reason text,
  -- How many rows of each table were erased.
  counts json not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  version integer not null default 1
);
create index erasures_age on erasures (created_at, id);
