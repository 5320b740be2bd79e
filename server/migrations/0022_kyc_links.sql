-- Links to the hosted verification page. Only the hash of a link's secret is kept.

create table kyc_links (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  secret_hash text collate "C" not null,
  redirect_uri text,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null,
  version integer not null default 1
);
create unique index kyc_links_secret on kyc_links (secret_hash);
create index kyc_links_of_customer on kyc_links (customer_id, created_at, id);
