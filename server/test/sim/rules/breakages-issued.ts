// Ways to break what is known of cards and stablecoins, as those of `breakages.ts`.

const LINE = `platform_id, customer_id, card_id, kind, amount, currency, merchant, created_at`;
/** A line of the log written once more, with another id. */
const line = (where: string, more: string) => `insert into card_messages
  (id, token, transaction_id, approved, reason, ${LINE})
  select 'sandbox made-up', ${more}, ${LINE} from card_messages where ${where} limit 1`;
const OPENED = "approved and kind = 'AUTHORIZATION'";
const one = (where: string) =>
  `(select id from transactions where type = 'CARD' and ${where} limit 1)`;
const AUTHORIZED = one("status = 'AUTHORIZED' and direction = 'DEBIT'");
/** Facts of a card payment made other than they are, past the constraint that would hold them together. */
const facts = (change: string, where: string) => [
  'alter table transactions drop constraint if exists transactions_card_amounts',
  `update transactions set ${change} where id = ${one(where)}`,
];
/** One that gave nothing back yet. */
const PLAIN = "status = 'AUTHORIZED' and direction = 'DEBIT' and card_released = 0";
const told = (type: string, subject: string) => `insert into events
  (id, platform_id, type, subject, data, created_at)
  select 'Webhook:made-up', platform_id, '${type}', ${subject}, data, created_at
  from events limit 1`;

const OF_CARDS: [rule: string, statements: string[]][] = [
  [
    'cards move along their lifecycle',
    ["update cards set state = 'ACTIVE', state_reason = null where state = 'CLOSED'"],
  ],
  [
    'is one more than',
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
      line(OPENED, "'sandbox other', transaction_id, true, null"),
    ],
  ],
  ['what was decided about a card is written down for good', ['delete from card_messages']],
  [
    'was declined and opened',
    [line(OPENED, "'sandbox other', transaction_id, false, 'CARD_PAUSED'")],
  ],
  ['opened nothing', [line(OPENED, "'sandbox other', null, true, null")]],
  [
    'by its messages [',
    [line("kind = 'CLEARING' and amount > 0", 'token, transaction_id, true, null')],
  ],
  [
    'and must be AUTHORIZED',
    [`update transactions set status = 'SETTLED', funds = 'SETTLED' where id = ${AUTHORIZED}`],
  ],
  [
    'payments move along their lifecycle',
    [`update transactions set status = 'AUTHORIZED' where id = ${one("status = 'SETTLED'")}`],
  ],
  [
    'our keeping has what card payments say',
    facts('card_released = 1', "status = 'AUTHORIZED' and direction = 'DEBIT'"),
  ],
  [
    'a payment has moved what its state says',
    facts('card_written_off = 1', "status = 'AUTHORIZED' and direction = 'DEBIT'"),
  ],
  [
    'lost 5 with a live card and undecided',
    [
      ...facts('card_written_off = 5, card_released = 5', PLAIN),
      "update cards set state = 'FROZEN', state_reason = null",
    ],
  ],
  [
    'and must be EXCEPTION',
    [
      `insert into card_exceptions (id, platform_id, since)
        select id, platform_id, created_at from transactions where id = ${AUTHORIZED}`,
    ],
  ],
  ['its network is waited for: false', ['delete from card_open_payments']],
  [
    'its network is waited for: true',
    [
      `insert into card_open_payments (id, platform_id, opened_at)
        select id, platform_id, created_at from transactions
        where type = 'CARD' and card_closed`,
    ],
  ],
  [
    'and its holder is gone',
    [
      `update customers set deleted_at = created_at
        where id in (select customer_id from card_messages where ${OPENED})`,
      line(OPENED, "'sandbox other', transaction_id, true, null"),
    ],
  ],
  [
    'in suspense, and',
    [
      `insert into suspense_items (id, platform_id, since)
        select id, platform_id, created_at from transactions where id = ${AUTHORIZED}`,
    ],
  ],
  [' times, not ', [told('CARD_TRANSACTION.AUTHORIZED', AUTHORIZED)]],
  [
    'was told last as',
    [
      told('CARD_TRANSACTION.REFUNDED', AUTHORIZED),
      `insert into card_messages (id, token, transaction_id, approved, ${LINE})
        select 'sandbox made-up', 'sandbox ' || (card->>'token'), id, true, platform_id,
          customer_id, card->>'cardId', 'AUTHORIZATION_ADVICE', card_authorized,
          'USD', null, created_at from transactions where id = ${AUTHORIZED}`,
    ],
  ],
  [
    'and its changes are told',
    [told('CARD.STATE_CHANGE', "(select id from cards where state = 'ACTIVE' limit 1)")],
  ],
  [
    'a card is paid for by what is bound to it',
    ['update card_funding_sources set ended_at = created_at where ended_at is null'],
  ],
  [
    'and of nothing that pays',
    [
      `insert into delegated_keys (id, platform_id, customer_id, account_id, card_id,
          funding_source_id, status, public_key, nickname, created_at, updated_at)
        select 'DelegatedKey:made-up', platform_id, customer_id, account_id, card_id, 'none',
          'ACTIVE', '02', 'x', created_at, created_at from card_funding_sources limit 1`,
    ],
  ],
  [
    'live cards take their places',
    [
      `update ledger_accounts set balance = balance + 1 where id in
        (select 'velocity:cards:' || customer_id from cards where state <> 'CLOSED')`,
    ],
  ],
  [
    'is of no key that may sign',
    [
      `insert into wallet_authorizations (id, platform_id, account_id, customer_id, operation,
          subject, session_id, public_key, stamp, payload, created_at)
        select 'made up', platform_id, account_id, customer_id, 'cardPull', ${AUTHORIZED}, null,
          public_key, stamp, payload, created_at from wallet_authorizations limit 1`,
    ],
  ],
  [
    'was signed for',
    [
      `insert into wallet_authorizations (id, platform_id, account_id, customer_id, operation,
          subject, session_id, public_key, stamp, payload, created_at)
        select 'made up', platform_id, account_id, customer_id, 'cardPull', ${AUTHORIZED}, null,
          public_key, stamp, payload, created_at from wallet_authorizations limit 1`,
      `update transactions set updated_at = updated_at where id = ${AUTHORIZED}`,
    ],
  ],
  ['an open payment has a job', ["delete from jobs where kind = 'cards.pull'"]],
];

const OF_COINS: [rule: string, statements: string[]][] = [
  [
    'stablecoin_operations move along their lifecycle',
    [
      `update stablecoin_operations set status = 'PROCESSING'
        where status in ('COMPLETED', 'FAILED')`,
    ],
  ],
  [
    'was handed over twice',
    [
      `update stablecoin_operations set submitted_at = submitted_at + interval '1 second'
        where submitted_at is not null`,
    ],
  ],
  [
    'a mint or burn has moved what its state says',
    [
      `insert into ledger_transfers
        (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select transaction_id, 'again', 'pending', debit, credit, currency, amount, created_at
        from ledger_transfers where transaction_id like 'StablecoinOperation:%' limit 1`,
    ],
  ],
  [
    'of a coin circulates what was minted and not burnt',
    [
      `update ledger_accounts set balance = balance + 1 where id like 'stablecoin:%:circulating'`,
      `update ledger_accounts set balance = balance - 1 where id like 'stablecoin:%:issued'`,
    ],
  ],
  [
    'and was never handed over',
    [
      `update stablecoin_operations set submitted_at = null
        where submitted_at is not null and status <> 'CREATED' and status <> 'FAILED'`,
    ],
  ],
  [
    'nothing follows it',
    ["delete from jobs where kind in ('stablecoins.submit', 'stablecoins.check')"],
  ],
];

export const ISSUED_BREAKAGES = [...OF_CARDS, ...OF_COINS];
