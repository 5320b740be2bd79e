-- E-mail and text messages, and the one-time codes that some of them carry.

create table messages (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C",
  channel text not null check (channel in ('EMAIL', 'SMS')),
  -- What it is about.
  kind text not null,
  status text not null check (status in ('QUEUED', 'SENT', 'KEPT', 'FAILED')),
  -- Sealed, under the customer's data key where there is a customer.
  recipient text,
  content text,
  failure text check (failure in ('REFUSED', 'EXPIRED', 'ERASED', 'NOT_CONNECTED')),
  attempts integer not null,
  expires_at timestamptz not null,
  sent_at timestamptz,
  created_at timestamptz not null,
  version integer not null default 1
);
create index messages_of_customer on messages (customer_id) where customer_id is not null;
create index messages_of_platform on messages (platform_id, created_at, id);
create index messages_age on messages (created_at, id);
-- Those that went wrong are few among those that were sent.
create index messages_unsent on messages (status, created_at, id) where status <> 'SENT';

create table codes (
  -- What the code is for: one is good for it at a time.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  digest text not null,
  wrong integer not null,
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  version integer not null default 1
);
