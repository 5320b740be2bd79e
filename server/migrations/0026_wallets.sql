-- Embedded wallets: who may sign for one, what they are asked to sign, and what was signed.

create table wallets (
  -- The id of its internal account.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- What payloads and bundles call it; of no meaning elsewhere.
  organization_id text not null,
  user_id text not null,
  wallet_id text not null,
  -- Where its seed is, as its custodian says; null once it was erased.
  seed text,
  created_at timestamptz not null,
  version integer not null default 1
);
create index wallets_of_customer on wallets (customer_id);

create table credentials (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  account_id text collate "C" not null,
  customer_id text collate "C" not null,
  type text not null check (type in ('EMAIL_OTP', 'SMS_OTP', 'OAUTH', 'PASSKEY')),
  status text not null check (status in ('ACTIVE', 'REVOKED')),
  -- What no other credential of the account may have: the type of one-time codes, the hash of an identity,
  -- the id of a passkey. Null once it was revoked, so that it can be added again.
  slot text collate "C",
  -- Sealed; null for one-time codes, which go by the customer's own contact.
  nickname text,
  -- What its type keeps, sealed: an identity, or a passkey's public key.
  facts text,
  -- Counter of a passkey.
  sign_count bigint not null,
  -- Of a passkey: the hash of the challenge it was registered with, which no other one of the platform may have.
  challenge_hash text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index credentials_slot on credentials (account_id, slot) where slot is not null;
create unique index credentials_challenge on credentials (platform_id, challenge_hash)
  where challenge_hash is not null;
create index credentials_of_account on credentials (account_id, created_at, id);
create index credentials_of_customer on credentials (customer_id);

create table wallet_sessions (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  account_id text collate "C" not null,
  customer_id text collate "C" not null,
  credential_id text collate "C" not null,
  status text not null check (status in ('ACTIVE', 'REVOKED')),
  -- Compressed P-256, lower-case hex: what proves the session, and what its client drew for it.
  public_key text not null,
  client_key text not null,
  api_key_id text not null,
  -- When somebody last proved the credential itself; refreshing does not.
  authenticated_at timestamptz not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index wallet_sessions_of_account on wallet_sessions (account_id, expires_at);
create index wallet_sessions_of_customer on wallet_sessions (customer_id);

-- What waits for a signature, or for what a device says to a challenge.
create table wallet_requests (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  account_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- The operation and what it is asked of: `revokeAuthCredential AuthMethod:...`.
  subject text collate "C" not null,
  status text not null check (status in ('PENDING', 'PROCESSING', 'SETTLED', 'DONE', 'DROPPED')),
  -- Sealed: the exact text to sign, the request it was asked with, and what the first leg found out.
  payload text not null,
  input text not null,
  bound text not null,
  -- Who may sign.
  signer text not null,
  -- Signatures that were wrong.
  wrong integer not null,
  -- Of the signature that was accepted: its hash, and how often it is still answered that work goes on.
  stamp_hash text,
  polls integer not null,
  -- Sealed: what is answered once it is settled.
  reply text,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  version integer not null default 1
);
create index wallet_requests_of_account on wallet_requests (account_id, created_at, id);
create index wallet_requests_of_customer on wallet_requests (customer_id);
create index wallet_requests_age on wallet_requests (created_at, id);

-- The keys that one-time codes are encrypted to: one for a credential at a time.
create table otp_targets (
  -- The id of the credential.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- What this one code is called, and no other.
  code_id text not null,
  -- The private half, as its custodian sealed it.
  target text not null,
  expires_at timestamptz not null,
  version integer not null default 1
);
create index otp_targets_of_customer on otp_targets (customer_id);
create index otp_targets_age on otp_targets (expires_at, id);

-- What a wallet was moved by: never changed, never removed.
create table wallet_authorizations (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  account_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- The operation, and the quote, the credential, the session or the account it was about.
  operation text not null,
  subject text collate "C" not null,
  session_id text collate "C",
  public_key text not null,
  stamp text not null,
  -- Sealed: the text that was signed.
  payload text not null,
  created_at timestamptz not null
);
create index wallet_authorizations_of_account on wallet_authorizations (account_id, created_at, id);
create index wallet_authorizations_of_customer on wallet_authorizations (customer_id);
create trigger wallet_authorizations_immutable before update or delete on wallet_authorizations
  for each statement execute function refuse_change();

-- Ways back for users who can prove no credential of their wallet: asked for by an operator, announced,
-- and only then waited for.
create table wallet_recoveries (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  account_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- Which credential the wallet is to have.
  type text not null check (type in ('EMAIL_OTP', 'SMS_OTP')),
  status text not null check (status in ('WAITING', 'DONE', 'CANCELLED')),
  -- Keyed hash of the contact as it was; null once it is over.
  contact_digest text,
  actor text not null,
  reason text not null,
  -- What stopped it, and who where a person did.
  cancelled_for text,
  cancelled_by text,
  due_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  version integer not null default 1
);
create unique index wallet_recoveries_waiting on wallet_recoveries (account_id)
  where status = 'WAITING';
create index wallet_recoveries_of_account on wallet_recoveries (account_id, created_at, id);
create index wallet_recoveries_of_customer on wallet_recoveries (customer_id);
create index wallet_recoveries_age on wallet_recoveries (created_at, id);

-- How often something was tried lately, where the number of tries is limited.
create table tries (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  -- When, in milliseconds, the newest last.
  at json not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index tries_age on tries (updated_at, id);

-- How often the sandbox answers that a wallet's operation goes on before it is done.
alter table platforms add column wallet_polls integer not null default 0
  check (wallet_polls between 0 and 100);

-- Whoever has USDB has a wallet beside it. Customers who were there before get theirs by a job.
insert into jobs (id, kind, input, due_at, attempts)
  select 'Job:' || gen_random_uuid(), 'accounts.backfill',
    json_build_object('platformId', p.id, 'currencies', json_build_array('USDB')), 'epoch', 0
  from platforms p
  where exists (
    select 1 from json_array_elements(p.currencies) c where c ->> 'currencyCode' = 'USDB'
  );
