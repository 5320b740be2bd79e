-- Verifications: what came of each submission of a customer's data, and of decisions about customers. The
-- latest of a customer is the one that counts.

create table verifications (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  status text not null,
  latest boolean not null,
  findings text,
  decided_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index verifications_latest on verifications (customer_id) where latest;
create index verifications_of_platform on verifications (platform_id, created_at, id);
create index verifications_of_customer on verifications (customer_id, created_at, id);
create index verifications_standing on verifications (status, created_at, id) where latest;
