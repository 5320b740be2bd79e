-- Operators of the API: tokens with roles, and a record of each change that an operator made.
create table operator_tokens (
  id text collate "C" primary key,
  name text not null,
  roles text[] not null,
  -- Platforms that the token may access; null for all of them.
  platform_ids text[],
  -- SHA-256 of the secret.
  secret_hash text collate "C" not null unique,
  -- The operator that created it.
  created_by text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index operator_tokens_created on operator_tokens (created_at, id);

-- Append-only. `hash` is a keyed hash of all other columns, and so of the previous record's hash.
create table operator_audit (
  id text collate "C" primary key,
  number bigint not null unique,
  actor_kind text not null,
  actor_id text collate "C" not null,
  actor_name text not null,
  roles text[] not null,
  address text,
  request_id text,
  operation_id text not null,
  subject text collate "C",
  platform_id text collate "C",
  customer_id text collate "C",
  reason text,
  -- The changed rows, sealed under the key of the customer or of the operator.
  changes text,
  -- Hash of the idempotency key: a request is executed once.
  request_key text collate "C" unique,
  previous_hash text not null,
  hash text not null,
  created_at timestamptz not null
);
create index operator_audit_created on operator_audit (created_at, id);
create index operator_audit_customer on operator_audit (customer_id, number) where customer_id is not null;
create trigger operator_audit_immutable before update or delete on operator_audit
  for each statement execute function refuse_change();

-- The last record, so that a removed one at the end is noticed.
create table operator_audit_head (
  id text collate "C" primary key,
  number bigint not null,
  hash text not null,
  version integer not null
);
insert into operator_audit_head (id, number, hash, version) values ('head', 0, '', 1);
