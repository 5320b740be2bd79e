-- Invitations: a customer asks somebody to get a UMA address. The id is the code that people pass on.

create table invitations (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  environment text not null,
  customer_id text collate "C" not null,
  invitee_customer_id text collate "C",
  status text not null,
  inviter_uma text not null,
  invitee_uma text,
  first_name text,
  amount bigint,
  currency text,
  expires_at timestamptz,
  claimed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index invitations_of_inviter on invitations (customer_id);
create index invitations_of_invitee on invitations (invitee_customer_id)
  where invitee_customer_id is not null;

-- Whether the operator lets the platform invite.
alter table platforms add column invitations boolean not null default true;
