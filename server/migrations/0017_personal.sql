-- What is personal is sealed under a key of the customer's own, and those who own a business.

alter table customers add column data_key text;
alter table customers add column personal text;
alter table customers alter column details drop not null;

create table beneficial_owners (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  roles json not null,
  share integer not null check (share between 0 and 100),
  status text not null,
  personal text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index beneficial_owners_of_customer on beneficial_owners (customer_id, created_at, id);
