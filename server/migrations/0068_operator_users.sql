-- People who operate the installation, their ways to sign in, and their sessions.
create table operator_users (
  id text collate "C" primary key,
  name text not null,
  -- Sealed; the digest finds it. Null until the first administrator has enrolled.
  email text,
  email_digest text collate "C" unique,
  roles text[] not null,
  -- Platforms that the user may access; null for all of them.
  platform_ids text[],
  status text not null check (status in ('ACTIVE', 'DISABLED')),
  -- scrypt with its parameters.
  password_hash text,
  -- Sealed. A password is used with a code of an authenticator app only.
  totp_secret text,
  -- The last step whose code was used.
  totp_step bigint not null,
  -- Subject at the identity provider, if the user signs in there.
  identity_issuer text collate "C",
  identity_subject text collate "C",
  -- Time of the first sign-in method.
  enrolled_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null,
  check ((password_hash is null) = (totp_secret is null)),
  check ((identity_issuer is null) = (identity_subject is null)),
  unique (identity_issuer, identity_subject)
);
create index operator_users_created on operator_users (created_at, id);

create table operator_passkeys (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  name text not null,
  credential_id text collate "C" not null unique,
  passkey jsonb not null,
  sign_count bigint not null,
  used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index operator_passkeys_user on operator_passkeys (user_id);

-- Links of one use: with them a user registers the first sign-in method, or replaces lost ones.
create table operator_links (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  kind text not null check (kind in ('ENROLLMENT', 'RECOVERY')),
  secret_hash text collate "C" not null unique,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index operator_links_user on operator_links (user_id);

create table operator_sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null,
  method text not null check (method in ('PASSKEY', 'PASSWORD', 'IDENTITY_PROVIDER')),
  secret_hash text collate "C" not null unique,
  -- Hash of the cookie of the browser that signed in.
  device_hash text collate "C" not null,
  address text,
  expires_at timestamptz not null,
  used_at timestamptz not null,
  ended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null
);
create index operator_sessions_user on operator_sessions (user_id, created_at);
create index operator_sessions_created on operator_sessions (created_at, id);

-- Hashes of challenges that were answered, so that none is answered twice.
create table operator_used_challenges (
  id text collate "C" primary key,
  created_at timestamptz not null
);
create index operator_used_challenges_created on operator_used_challenges (created_at);

-- The person behind a token and behind a request, who cannot approve it.
alter table operator_tokens add column person_id text collate "C";
update operator_tokens set person_id = id;
alter table operator_tokens alter column person_id set not null;
alter table operator_approvals add column requester_person_id text collate "C";
update operator_approvals set requester_person_id = requested_by;
alter table operator_approvals alter column requester_person_id set not null;
