-- Cards: what is issued, what pays for it, and what the network asked and was told.

create table cards (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  platform_card_id text collate "C" not null,
  state text not null check (state in ('PROCESSING', 'ACTIVE', 'FROZEN', 'CLOSED')),
  state_reason text check (state_reason in ('ISSUER_REJECTED', 'CLOSED_BY_PLATFORM', 'CLOSED_BY_SERVICE')),
  brand text,
  last4 text,
  exp_month integer,
  exp_year integer,
  currency text not null,
  max_spend bigint check (max_spend > 0),
  -- Ids of the accounts that pay, in order; those of a closed card are what it had last.
  funding json not null,
  -- Number and code as the issuer sealed them; null until it has issued the card, and once it is closed.
  secret text,
  issuer_ref text,
  processor_ref text,
  -- Why an operator closed it.
  closed_note text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create index cards_of_platform on cards (platform_id, created_at, id);
create index cards_of_customer on cards (customer_id, created_at, id);
create index cards_in_order on cards (created_at, id);
create index cards_by_state on cards (platform_id, state, created_at, id);
create index cards_by_name on cards (platform_id, platform_card_id, created_at, id);
create unique index cards_named on cards (platform_id, platform_card_id) where state <> 'CLOSED';

-- What binds a card to an account that pays for it. A binding ends and never begins again.
create table card_funding_sources (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  card_id text collate "C" not null,
  account_id text collate "C" not null,
  ended_at timestamptz,
  created_at timestamptz not null,
  version integer not null default 1
);
create unique index card_funding_sources_live on card_funding_sources (card_id, account_id)
  where ended_at is null;
create index card_funding_sources_of_account on card_funding_sources (account_id)
  where ended_at is null;
create index card_funding_sources_of_card on card_funding_sources (card_id);
create index card_funding_sources_of_customer on card_funding_sources (customer_id);

create table delegated_keys (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  account_id text collate "C" not null,
  card_id text collate "C" not null,
  funding_source_id text collate "C" not null,
  status text not null check (status in ('PENDING', 'ACTIVE', 'REVOKED')),
  -- Compressed, lower-case hex.
  public_key text not null,
  -- Means something to the custodian alone; null once it was revoked.
  signer text,
  -- Sealed.
  nickname text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null default 1
);
create unique index delegated_keys_active on delegated_keys (funding_source_id) where status = 'ACTIVE';
-- What every payment of a wallet asks for.
create index delegated_keys_that_sign on delegated_keys (account_id, card_id, status);
create index delegated_keys_of_account on delegated_keys (account_id, created_at, id);
create index delegated_keys_of_source on delegated_keys (funding_source_id, created_at, id);
create index delegated_keys_of_customer on delegated_keys (customer_id);

-- Everything a network asked or told about a card, and what was decided: the decision log.
create table card_messages (
  -- The issuer's id of the message, with the environment before it.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  card_id text collate "C" not null,
  -- Null where nothing came of it.
  transaction_id text collate "C",
  -- The issuer's name for the transaction, with the environment before it.
  token text collate "C" not null,
  kind text not null check (kind in ('AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION',
    'FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE', 'BALANCE_INQUIRY', 'CLEARING',
    'AUTHORIZATION_EXPIRY', 'AUTHORIZATION_ADVICE', 'RETURN', 'RETURN_REVERSAL')),
  amount bigint not null,
  currency text not null,
  merchant json,
  approved boolean not null,
  -- Why it was declined.
  reason text check (reason in ('CARD_NOT_ACTIVE', 'CARD_PAUSED', 'SPEND_LIMIT_EXCEEDED', 'NO_FUNDING_SOURCE',
    'INSUFFICIENT_FUNDS', 'CARDHOLDER_NOT_READY', 'CURRENCY_NOT_SUPPORTED', 'TOO_LATE')),
  created_at timestamptz not null,
  check (approved = (reason is null))
);
create index card_messages_in_order on card_messages (created_at, id);
create index card_messages_of_card on card_messages (card_id, created_at, id);
create index card_messages_of_platform on card_messages (platform_id, created_at, id);
create index card_messages_declined on card_messages (platform_id, created_at, id) where not approved;
-- What opened a payment: a name is given to one of them, and what is told later finds it by that.
create unique index card_messages_opened on card_messages (token)
  where approved and transaction_id is not null and kind in ('AUTHORIZATION', 'FINANCIAL_AUTHORIZATION',
    'CREDIT_AUTHORIZATION', 'FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE');
create index card_messages_of_customer on card_messages (customer_id);

-- Each link to a card's number and code: who asked for it, and when it was opened.
create table card_reveals (
  -- Hash of the link's secret.
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  customer_id text collate "C" not null,
  card_id text collate "C" not null,
  -- The token that asked.
  actor text not null,
  opened_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  version integer not null default 1
);
create index card_reveals_in_order on card_reveals (created_at, id);
create index card_reveals_of_card on card_reveals (card_id, created_at, id);
create index card_reveals_of_platform on card_reveals (platform_id, created_at, id);
create index card_reveals_of_customer on card_reveals (customer_id);

-- Payments whose network has its money while we have not got ours, for an operator to decide about; the id is
-- the transaction's. No index of transactions holds a column that changes, so there is a list beside them.
create table card_exceptions (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  since timestamptz not null,
  version integer not null default 1
);
create index card_exceptions_since on card_exceptions (since, id);

-- Payments of which a network may say more; the id is the transaction's. What it never mentions again is
-- found here by its age.
create table card_open_payments (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  opened_at timestamptz not null,
  version integer not null default 1
);
create index card_open_payments_opened on card_open_payments (opened_at);

-- What a payment with a card is made of; null for every other transaction.
alter table transactions add column card json;

-- What the operator lets a platform do with cards: limits, and pages that may show one.
alter table platforms add column card_program json;
