-- Strong customer authentication: what a customer of its region proves itself with, what it is asked, and how
-- that went. Nothing here says in clear what a factor is.

alter table platforms
  -- Where the platform's app keeps passkeys, {rpId, origins}; null until its operator has said.
  add column passkey_site json,
  -- A payment that converts is authorised in two steps: the conversion, then the payout.
  add column sca_two_steps boolean not null default false;

create table sca_standings (
  -- The id of the customer; there from the first event on.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  failed_attempts integer not null check (failed_attempts >= 0),
  locked_until timestamptz,
  suspended boolean not null,
  -- Of the latest login; null before the first and once it was revoked.
  session_expires_at timestamptz,
  updated_at timestamptz not null,
  version integer not null default 1
);

create table sca_factors (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  type text not null check (type in ('TOTP', 'PASSKEY')),
  -- Sealed: the secret of TOTP, or what is known of the passkey.
  facts text not null,
  -- The counter of a passkey; of TOTP the last step of time whose code was taken.
  sign_count bigint not null,
  -- Keyed hashes of recovery codes that were not used yet; none of a passkey.
  recovery json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index sca_factors_one on sca_factors (customer_id, type);

create table sca_enrollments (
  -- Customer and type: a new one takes the place of the one before.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  -- Sealed: the secret of TOTP, or the challenge of the passkey.
  facts text not null,
  wrong integer not null,
  expires_at timestamptz not null,
  version integer not null default 1
);
create index sca_enrollments_of_customer on sca_enrollments (customer_id);
create index sca_enrollments_forget on sca_enrollments (expires_at);

create table sca_challenges (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  kind text not null check (kind in ('LOGIN', 'PAYMENT', 'TRUST', 'UNTRUST')),
  -- What it is about: the customer, a quote, or an external account.
  subject text collate "C" not null,
  factor text not null check (factor in ('SMS_OTP', 'TOTP', 'PASSKEY')),
  -- Of a payment: what this step authorises, and the steps after it.
  purpose text,
  steps json not null,
  status text not null check (status in ('PENDING', 'SATISFIED', 'REPLACED', 'LAPSED')),
  -- Part of what a passkey signs, so that no two challenges are alike.
  nonce text not null,
  wrong integer not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index sca_challenges_pending on sca_challenges (kind, subject) where status = 'PENDING';
create index sca_challenges_of_customer on sca_challenges (customer_id, created_at, id);
create index sca_challenges_forget on sca_challenges (expires_at);

-- What happened, for good: nothing here is changed or removed.
create table sca_events (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  type text not null,
  factor text,
  -- The challenge, reset or payment it is about.
  subject text collate "C",
  -- Where the customer was, sealed.
  ip_address text,
  -- Of what an operator did: who, and why.
  actor text,
  reason text,
  created_at timestamptz not null
);
create index sca_events_of_customer on sca_events (customer_id, created_at, id);
create trigger sca_events_immutable before update or delete on sca_events
  for each statement execute function refuse_change();

create table sca_resets (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  factor text not null check (factor in ('SMS_OTP', 'TOTP', 'PASSKEY')),
  status text not null check
    (status in ('INITIATED', 'PENDING_REVIEW', 'LIVENESS_PASSED', 'COMPLETED', 'REJECTED', 'EXPIRED')),
  -- Whether the factor was enrolled again after it was cleared; null for codes by SMS.
  enrollment text check (enrollment in ('PENDING', 'COMPLETED')),
  -- Of the secret in the link to the liveness page.
  token_hash text collate "C",
  -- How often its status was asked for.
  polls integer not null,
  expires_at timestamptz not null,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index sca_resets_token on sca_resets (token_hash) where token_hash is not null;
create index sca_resets_of_customer on sca_resets (customer_id, created_at, id);
create index sca_resets_of_factor on sca_resets (customer_id, factor, status);
create index sca_resets_open on sca_resets (platform_id, created_at, id)
  where status in ('INITIATED', 'PENDING_REVIEW');

-- Each challenge has codes of its own, so that they are to be forgotten in time.
create index codes_forget on codes (expires_at);
