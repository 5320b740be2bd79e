// Cards at rest: the cards, what pays for them, the keys that a wallet lets pay, everything a network asked
// and was told, and who looked at a number. Payments with cards are transactions, in their table.
import type { CardMerchant, DeclineReason } from '../../connectors/ports/cards.ts';
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import {
  type CardState,
  type CardStateReason,
  cardStates,
  type DelegatedKeyStatus,
  delegatedKeyStates,
} from './issuing/states.ts';

export const cards = table(
  'cards',
  {
    id: col.text,
    platform_id: col.text,
    /** The cardholder. */
    customer_id: col.text,
    platform_card_id: col.text,
    state: col.word<CardState>().mut,
    state_reason: col.word<CardStateReason>().null.mut,
    brand: col.text.null.mut,
    last4: col.text.null.mut,
    exp_month: col.int4.null.mut,
    exp_year: col.int4.null.mut,
    /** What it shows its amounts in. */
    currency: col.text,
    /** The most that one authorisation may be for, smallest units of `currency`. */
    max_spend: col.int8.null.mut,
    /** Ids of the accounts that pay, in order; those of a closed card are the last it had. */
    funding: col.json<string[]>().mut,
    /** Number and code as the issuer sealed them; null before it did, and once the card is closed. */
    secret: col.text.null.mut,
    issuer_ref: col.text.null.mut,
    processor_ref: col.text.null.mut,
    /** Why an operator closed it. */
    closed_note: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.state, states: cardStates }],
    unique: {
      cards_named: () => new Fault('CONFLICT', 'A card with this platformCardId is live already.'),
    },
  },
);
export type CardRow = RowOf<typeof cards>;

/** What binds a card to an account. A binding that ended never begins again. */
export const fundingSources = table(
  'card_funding_sources',
  {
    /** `CardFundingSource:<uuid>`. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    card_id: col.text,
    account_id: col.text,
    ended_at: col.time.null.mut,
    created_at: col.time,
    version: col.int4,
  },
  { contendedKeys: ['card_funding_sources_live'] },
);
export type FundingSourceRow = RowOf<typeof fundingSources>;

export const delegatedKeys = table(
  'delegated_keys',
  {
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    account_id: col.text,
    card_id: col.text,
    funding_source_id: col.text,
    status: col.word<DelegatedKeyStatus>().mut,
    /** Compressed, lower-case hex. */
    public_key: col.text,
    /** Means something to the custodian alone; null once it was revoked. */
    signer: col.text.null.mut,
    /** Sealed under the customer's key. */
    nickname: col.text,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: delegatedKeyStates }],
    unique: {
      delegated_keys_active: () =>
        new Fault('CONFLICT', 'The funding source of the card has an active key already.'),
    },
  },
);
export type DelegatedKeyRow = RowOf<typeof delegatedKeys>;

/** What a network asked or told, and what was decided. Rows are never changed. */
export const cardMessages = table(
  'card_messages',
  {
    /** The environment and the issuer's id of the message: `sandbox CardMessage:…`. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    card_id: col.text,
    transaction_id: col.text.null,
    /** The environment and the issuer's name for the transaction. */
    token: col.text,
    kind: col.text,
    /** Smallest units; zero where none is said. */
    amount: col.int8,
    currency: col.text,
    merchant: col.json<CardMerchant>().null,
    approved: col.bool,
    reason: col.word<DeclineReason>().null,
    created_at: col.time,
  },
  {
    clientKeyed: true,
    unique: {
      card_messages_opened: () =>
        new Fault('CONFLICT', 'The issuer has named another payment like this one.'),
    },
  },
);
export type CardMessageRow = RowOf<typeof cardMessages>;

/** A link to a number and code. It is opened once; the row stays, and says by whom and when. */
export const cardReveals = table('card_reveals', {
  /** Hash of the link's secret. */
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  card_id: col.text,
  /** The token that asked for it. */
  actor: col.text,
  opened_at: col.time.null.mut,
  expires_at: col.time,
  created_at: col.time,
  version: col.int4,
});
export type CardRevealRow = RowOf<typeof cardReveals>;

/** Payments whose money a person has to look after; the id is the payment's. */
export const cardExceptions = table('card_exceptions', {
  id: col.text,
  platform_id: col.text,
  since: col.time,
  version: col.int4,
});

/** Payments of which a network may say more; the id is the payment's. Rows come and go, and never change. */
export const openPayments = table('card_open_payments', {
  id: col.text,
  platform_id: col.text,
  opened_at: col.time,
  version: col.int4,
});
