-- Papers that show who customers are, and who owns them. What is in a paper lies sealed in storage.

create table documents (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  holder_id text collate "C" not null,
  type text not null,
  side text,
  country text not null,
  format text not null,
  file_id text collate "C" not null,
  file_key text not null,
  personal text not null,
  submitted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index documents_same on documents (holder_id, type, coalesce(side, ''));
create index documents_of_platform on documents (platform_id, created_at, id);
create index documents_of_holder on documents (holder_id, created_at, id);
create index documents_of_customer on documents (customer_id, created_at, id);
