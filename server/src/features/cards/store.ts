// Tables of cards: cards, funding sources, delegated keys, network messages with decisions, reveal
// links, exceptions and open payments. Card payments are transactions.
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
    /** ID of the cardholder. */
    customer_id: col.text,
    platform_card_id: col.text,
    state: col.enum<CardState>().mut,
    state_reason: col.enum<CardStateReason>().null.mut,
    brand: col.text.null.mut,
    last4: col.text.null.mut,
    exp_month: col.int4.null.mut,
    exp_year: col.int4.null.mut,
    /** Currency of the amounts of the card. */
    currency: col.text,
    /** Maximum of one authorization, in minor units of `currency`. */
    max_spend: col.int8.null.mut,
    /** IDs of the funding accounts, in order. A closed card keeps its last funding accounts. */
    funding: col.json<string[]>().mut,
    /**
     * Number and security code, sealed by the issuer. Null before the card is issued and after its
     * closure.
     */
    secret: col.text.null.mut,
    issuer_ref: col.text.null.mut,
    processor_ref: col.text.null.mut,
    /** The operator's reason of the closure. */
    closed_note: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.state, states: cardStates }],
    unique: {
      cards_named: () => new Fault('CONFLICT', 'An open card already has this platformCardId.'),
    },
  },
);
export type CardRow = RowOf<typeof cards>;

/** Links a card to a funding account. A removed link is never used again. */
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
    status: col.enum<DelegatedKeyStatus>().mut,
    /** Compressed, lower-case hexadecimal. */
    public_key: col.text,
    /** Reference of the custodian, or null once revoked. */
    signer: col.text.null.mut,
    /** Sealed with the data key of the customer. */
    nickname: col.text,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: delegatedKeyStates }],
    unique: {
      delegated_keys_active: () =>
        new Fault(
          'CONFLICT',
          'The funding source of the card already has an active key. Revoke that key first.',
        ),
    },
  },
);
export type DelegatedKeyRow = RowOf<typeof delegatedKeys>;

/**
 * Messages of a network and their decisions. Only an erasure changes a row, to remove the merchant.
 */
export const cardMessages = table(
  'card_messages',
  {
    /** Environment and the issuer's ID of the message: `sandbox CardMessage:…`. */
    id: col.text,
    platform_id: col.text,
    customer_id: col.text,
    card_id: col.text,
    transaction_id: col.text.null,
    /** Environment and the issuer's token of the transaction. */
    token: col.text,
    kind: col.text,
    /** Minor units. Zero if absent. */
    amount: col.int8,
    currency: col.text,
    merchant: col.json<CardMerchant>().null,
    approved: col.bool,
    reason: col.enum<DeclineReason>().null,
    created_at: col.time,
  },
  {
    clientKeyed: true,
    unique: {
      card_messages_opened: () =>
        new Fault('CONFLICT', 'The transaction token is already used for another payment.'),
    },
  },
);
export type CardMessageRow = RowOf<typeof cardMessages>;

/**
 * A single-use link to number and security code. The row records the creation and the use of the
 * link.
 */
export const cardReveals = table('card_reveals', {
  /** Hash of the link's secret. */
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  card_id: col.text,
  /** The token that created the link. */
  actor: col.text,
  opened_at: col.time.null.mut,
  expires_at: col.time,
  created_at: col.time,
  version: col.int4,
});
export type CardRevealRow = RowOf<typeof cardReveals>;

/** Payments that need a decision of an operator. `id` is the payment's ID. */
export const cardExceptions = table('card_exceptions', {
  id: col.text,
  platform_id: col.text,
  since: col.time,
  version: col.int4,
});

/** Payments that are not closed. `id` is the payment's ID. Never updated. */
export const openPayments = table('card_open_payments', {
  id: col.text,
  platform_id: col.text,
  opened_at: col.time,
  version: col.int4,
});
