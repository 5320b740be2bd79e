-- What a lookup of a receiver found, kept for the minutes in which a quote may lean on it.

create table lookups (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  kind text not null,
  receiver text not null,
  receiver_customer_id text collate "C",
  sender text not null,
  customer_id text collate "C",
  currencies json not null,
  required_payer_data json not null,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index lookups_expiry on lookups (expires_at);

-- Tells an address at one of our own domains from one at a stranger's.
create index platforms_of_uma_domain on platforms (uma_domain);
