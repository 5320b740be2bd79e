-- Changes of operators that a second person must approve, and the policies that say which.
create table operator_approval_policies (
  id text collate "C" primary key,
  operation_id text not null,
  -- Null for every platform.
  platform_id text collate "C",
  -- The smallest amount of a posting to which it applies; both null for every change.
  currency text,
  amount bigint,
  -- Hours in which a request is decided.
  hours integer not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null,
  check ((currency is null) = (amount is null))
);
create index operator_approval_policies_created on operator_approval_policies (created_at, id);

create table operator_approvals (
  id text collate "C" primary key,
  operation_id text not null,
  platform_id text collate "C",
  customer_id text collate "C",
  -- Parameters and body, and the changes that were shown; sealed.
  request text not null,
  changes text not null,
  -- Of the change set: it is executed only if it is still the same.
  digest text not null,
  policy_id text collate "C" not null,
  status text not null check (status in ('PENDING', 'APPROVED', 'REJECTED')),
  requested_by text not null,
  requester_name text not null,
  reason text,
  decided_by text,
  decider_name text,
  decision_reason text,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index operator_approvals_created on operator_approvals (created_at, id);
create index operator_approvals_pending on operator_approvals (created_at, id) where status = 'PENDING';
