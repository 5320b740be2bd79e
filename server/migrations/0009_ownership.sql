-- Proofs that a wallet is its owner's: the challenge that is outstanding, one for each account, and when the
-- last proof held.

alter table external_accounts add column proven_at timestamptz;

create table ownership_challenges (
  -- The account's id.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  method text not null check (method in ('WALLET_SIGNATURE', 'LIVENESS')),
  nonce text not null,
  message text,
  token_hash text,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  version integer not null default 1
);
create unique index ownership_challenges_token on ownership_challenges (token_hash);
