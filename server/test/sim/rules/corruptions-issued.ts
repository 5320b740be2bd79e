// Corruptions of cards and stablecoins, as in `corruptions.ts`.

const MESSAGE_COLUMNS = `platform_id, customer_id, card_id, kind, amount, currency, merchant, created_at`;
/** A message of the log inserted again with another ID. */
const insertMessageSql = (condition: string, columns: string) => `insert into card_messages
  (id, token, transaction_id, approved, reason, ${MESSAGE_COLUMNS})
  select 'sandbox made-up', ${columns}, ${MESSAGE_COLUMNS} from card_messages where ${condition} limit 1`;
const OPENING_MESSAGE = "approved and kind = 'AUTHORIZATION'";
const cardPaymentSql = (condition: string) =>
  `(select id from transactions where type = 'CARD' and ${condition} limit 1)`;
const AUTHORIZED_PAYMENT = cardPaymentSql("status = 'AUTHORIZED' and direction = 'DEBIT'");
/** Changes amounts of a card payment, without the constraint that relates them. */
const setAmountsSql = (change: string, condition: string) => [
  'alter table transactions drop constraint if exists transactions_card_amounts',
  `update transactions set ${change} where id = ${cardPaymentSql(condition)}`,
];
/** Condition for authorized debits without a released amount. */
const PLAIN_DEBIT_SQL = "status = 'AUTHORIZED' and direction = 'DEBIT' and card_released = 0";
const insertEventSql = (type: string, subject: string) => `insert into events
  (id, platform_id, type, subject, data, created_at)
  select 'Webhook:made-up', platform_id, '${type}', ${subject}, data, created_at
  from events limit 1`;

const CARD_CORRUPTIONS: [rule: string, statements: string[]][] = [
  [
    'cards follow their lifecycle',
    ["update cards set state = 'ACTIVE', state_reason = null where state = 'CLOSED'"],
  ],
  [
    'exceeds the limit of',
    [
      `update platforms set card_program = '{"maxLive":1,"maxLivePerHolder":1}'`,
      `insert into cards select c.* from cards w, json_populate_record(w,
        '{"id":"Card:made-up","platform_card_id":"made up"}') c where w.state = 'ACTIVE' limit 1`,
    ],
  ],
  [
    'was approved, and Card:',
    [
      "update cards set state = 'CLOSED', state_reason = 'CLOSED_BY_SERVICE' where state <> 'CLOSED'",
      insertMessageSql(OPENING_MESSAGE, "'sandbox other', transaction_id, true, null"),
    ],
  ],
  ['card decisions are permanent', ['delete from card_messages']],
  [
    'was declined and opened',
    [insertMessageSql(OPENING_MESSAGE, "'sandbox other', transaction_id, false, 'CARD_PAUSED'")],
  ],
  ['opened no payment', [insertMessageSql(OPENING_MESSAGE, "'sandbox other', null, true, null")]],
  [
    'by its messages [',
    [insertMessageSql("kind = 'CLEARING' and amount > 0", 'token, transaction_id, true, null')],
  ],
  [
    'and must be AUTHORIZED',
    [
      `update transactions set status = 'SETTLED', funds = 'SETTLED' where id = ${AUTHORIZED_PAYMENT}`,
    ],
  ],
  [
    'payments follow their lifecycle',
    [
      `update transactions set status = 'AUTHORIZED' where id = ${cardPaymentSql("status = 'SETTLED'")}`,
    ],
  ],
  [
    'the card settlement account equals the open card payments',
    setAmountsSql('card_released = 1', "status = 'AUTHORIZED' and direction = 'DEBIT'"),
  ],
  [
    'a payment has the transfers of its state',
    setAmountsSql('card_written_off = 1', "status = 'AUTHORIZED' and direction = 'DEBIT'"),
  ],
  [
    'wrote off 5 with an open card and no decision',
    [
      ...setAmountsSql('card_written_off = 5, card_released = 5', PLAIN_DEBIT_SQL),
      "update cards set state = 'FROZEN', state_reason = null",
    ],
  ],
  [
    'and must be EXCEPTION',
    [
      `insert into card_exceptions (id, platform_id, since)
        select id, platform_id, created_at from transactions where id = ${AUTHORIZED_PAYMENT}`,
    ],
  ],
  ['an open network payment: false', ['delete from card_open_payments']],
  [
    'an open network payment: true',
    [
      `insert into card_open_payments (id, platform_id, opened_at)
        select id, platform_id, created_at from transactions
        where type = 'CARD' and card_closed`,
    ],
  ],
  [
    'and its holder is deleted',
    [
      `update customers set deleted_at = created_at
        where id in (select customer_id from card_messages where ${OPENING_MESSAGE})`,
      insertMessageSql(OPENING_MESSAGE, "'sandbox other', transaction_id, true, null"),
    ],
  ],
  [
    'in suspense, and',
    [
      `insert into suspense_items (id, platform_id, since)
        select id, platform_id, created_at from transactions where id = ${AUTHORIZED_PAYMENT}`,
    ],
  ],
  [' events, not ', [insertEventSql('CARD_TRANSACTION.AUTHORIZED', AUTHORIZED_PAYMENT)]],
  [
    'last emitted',
    [
      insertEventSql('CARD_TRANSACTION.REFUNDED', AUTHORIZED_PAYMENT),
      `insert into card_messages (id, token, transaction_id, approved, ${MESSAGE_COLUMNS})
        select 'sandbox made-up', 'sandbox ' || (card->>'token'), id, true, platform_id,
          customer_id, card->>'cardId', 'AUTHORIZATION_ADVICE', card_authorized,
          'USD', null, created_at from transactions where id = ${AUTHORIZED_PAYMENT}`,
    ],
  ],
  [
    'and an event for each change',
    [insertEventSql('CARD.STATE_CHANGE', "(select id from cards where state = 'ACTIVE' limit 1)")],
  ],
  [
    'a card has its bound funding sources',
    ['update card_funding_sources set ended_at = created_at where ended_at is null'],
  ],
  [
    'and has no funding source',
    [
      `insert into delegated_keys (id, platform_id, customer_id, account_id, card_id,
          funding_source_id, status, public_key, nickname, created_at, updated_at)
        select 'DelegatedKey:made-up', platform_id, customer_id, account_id, card_id, 'none',
          'ACTIVE', '02', 'x', created_at, created_at from card_funding_sources limit 1`,
    ],
  ],
  [
    'open cards count toward their limits',
    [
      `update ledger_accounts set balance = balance + 1 where id in
        (select 'velocity:cards:' || customer_id from cards where state <> 'CLOSED')`,
    ],
  ],
  [
    'has no key that may sign',
    [
      `insert into wallet_authorizations (id, platform_id, account_id, customer_id, operation,
          subject, session_id, public_key, stamp, payload, created_at)
        select 'made up', platform_id, account_id, customer_id, 'cardPull', ${AUTHORIZED_PAYMENT}, null,
          public_key, stamp, payload, created_at from wallet_authorizations limit 1`,
    ],
  ],
  [
    ' signatures, not ',
    [
      `insert into wallet_authorizations (id, platform_id, account_id, customer_id, operation,
          subject, session_id, public_key, stamp, payload, created_at)
        select 'made up', platform_id, account_id, customer_id, 'cardPull', ${AUTHORIZED_PAYMENT}, null,
          public_key, stamp, payload, created_at from wallet_authorizations limit 1`,
      `update transactions set updated_at = updated_at where id = ${AUTHORIZED_PAYMENT}`,
    ],
  ],
  ['an open payment has a job', ["delete from jobs where kind = 'cards.funding-debit'"]],
];

const COIN_CORRUPTIONS: [rule: string, statements: string[]][] = [
  [
    'stablecoin_operations follow their lifecycle',
    [
      `update stablecoin_operations set status = 'PROCESSING'
        where status in ('COMPLETED', 'FAILED')`,
    ],
  ],
  [
    'was submitted twice',
    [
      `update stablecoin_operations set submitted_at = submitted_at + interval '1 second'
        where submitted_at is not null`,
    ],
  ],
  [
    'a mint or burn has the transfers of its state',
    [
      `insert into ledger_transfers
        (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select transaction_id, 'again', 'pending', debit, credit, currency, amount, created_at
        from ledger_transfers where transaction_id like 'StablecoinOperation:%' limit 1`,
    ],
  ],
  [
    'circulating supply equals mints less burns',
    [
      `update ledger_accounts set balance = balance + 1 where id like 'stablecoin:%:circulating'`,
      `update ledger_accounts set balance = balance - 1 where id like 'stablecoin:%:issued'`,
    ],
  ],
  [
    'and was never submitted',
    [
      `update stablecoin_operations set submitted_at = null
        where submitted_at is not null and status <> 'CREATED' and status <> 'FAILED'`,
    ],
  ],
  [
    'and has no job',
    ["delete from jobs where kind in ('stablecoins.submit', 'stablecoins.check')"],
  ],
];

export const ISSUED_CORRUPTIONS = [...CARD_CORRUPTIONS, ...COIN_CORRUPTIONS];
