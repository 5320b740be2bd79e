-- Agents: programs that act for one customer, under a policy.

create table agents (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  name text not null,
  paused boolean not null,
  -- Hash of its access token; null until its device code was redeemed.
  token_hash text collate "C",
  policy json not null,
  -- Currencies its limits were in before, each with the time until which: what was spent counts on.
  former_currencies json not null,
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index agents_token on agents (token_hash) where token_hash is not null;
create index agents_of_platform on agents (platform_id, created_at, id) where deleted_at is null;
create index agents_in_order on agents (created_at, id) where deleted_at is null;
create index agents_of_customer on agents (customer_id, created_at, id);

create table agent_device_codes (
  -- Hash of the code.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  agent_id text collate "C" not null,
  status text not null check (status in ('PENDING', 'REDEEMED', 'REPLACED')),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  version integer not null default 1
);
create index agent_device_codes_of_agent on agent_device_codes (agent_id);
create index agent_device_codes_forget on agent_device_codes (expires_at);

create table agent_actions (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  agent_id text collate "C" not null,
  customer_id text collate "C" not null,
  type text not null check (type in ('EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN')),
  status text not null check (status in ('PENDING_APPROVAL', 'APPROVED', 'REJECTED', 'FAILED')),
  quote_id text collate "C",
  -- The payment it is about; it waits as PENDING until somebody has decided.
  transaction_id text collate "C" not null,
  -- The holder of the wallet that pays signed when the agent asked.
  signed boolean not null,
  rejection_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index agent_actions_of_agent on agent_actions (agent_id, created_at, id);
create index agent_actions_of_agent_by_status on agent_actions (agent_id, status, created_at, id);
create index agent_actions_of_customer_by_status
  on agent_actions (customer_id, status, created_at, id);
create index agent_actions_of_platform_by_status
  on agent_actions (platform_id, status, created_at, id);
create index agent_actions_of_transaction on agent_actions (transaction_id);
-- Of one payment there is one that waits or was let through.
create unique index agent_actions_one_of_transaction on agent_actions (transaction_id)
  where status in ('PENDING_APPROVAL', 'APPROVED');

-- Every action, decision and actor, for good.
create table agent_audit (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  agent_id text collate "C" not null,
  action_id text collate "C",
  what text not null,
  -- The agent, the token or the operator that did it.
  actor text not null,
  details json not null,
  created_at timestamptz not null
);
create index agent_audit_of_platform on agent_audit (platform_id, created_at, id);
create index agent_audit_of_agent on agent_audit (agent_id, created_at, id);
create index agent_audit_of_customer on agent_audit (customer_id, created_at, id);
create trigger agent_audit_immutable before update or delete on agent_audit
  for each statement execute function refuse_change();

-- Which agent a quote and a payment were made by.
alter table quotes add column agent_id text collate "C";
alter table transactions add column agent_id text collate "C";
