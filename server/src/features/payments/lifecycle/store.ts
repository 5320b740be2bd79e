// A transaction: one payment out, in, or both ends of one inside the house. `funds` says where its money
// is, apart from `status`, which says what the platform is told; refunds act on `funds`.
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import type { OnChain } from '../../../connectors/ports/index.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { CardFacts } from './cards/card.ts';
import { cardPaymentStates } from './cards/card-states.ts';
import {
  type FailureReason,
  type IncomingStatus,
  incomingStates,
  type OutgoingStatus,
  outgoingStates,
  refundStates,
} from './states.ts';

/** A party of a transaction as the API shows it. */
export type Party = Record<string, unknown>;

export interface Refund {
  reference: string;
  initiatedAt: string;
  settledAt?: string;
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  reason: 'TRANSACTION_FAILED' | 'USER_CANCELLATION' | 'TIMEOUT';
}

/**
 * Where the money of a payment is. Outgoing: not touched, awaited from a pull, come in but not usable, set
 * aside on the source, handed to the rail, settled outside, back where it came from, or parked for a person
 * to decide.
 * Incoming: NONE before it is here, HELD while it must not be spent, SETTLED once it may.
 */
export type Funds =
  | 'NONE'
  | 'AWAITED'
  | 'FUNDED'
  | 'HELD'
  | 'HANDED'
  | 'SETTLED'
  | 'RETURNED'
  | 'PARKED';

/** Why money that came in must not be spent yet. */
export const PENDING_REASONS = [
  'COUNTERPARTY_DECLARATION_REQUIRED',
  'WALLET_VERIFICATION_REQUIRED',
  'COUNTERPARTY_INFORMATION_REQUIRED',
  'COMPLIANCE_REVIEW',
] as const;
export type PendingReason = (typeof PENDING_REASONS)[number];

const columns = {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text.null,
  platform_customer_id: col.text,
  type: col.word<'INCOMING' | 'OUTGOING' | 'CARD'>(),
  direction: col.word<'CREDIT' | 'DEBIT'>(),
  /** Of a payment with a card a `CardStatus`: `CardPaymentRow` is such a row as it is. */
  status: col.word<OutgoingStatus | IncomingStatus>().mut,
  funds: col.word<Funds>().mut,
  /** Completed with what is known of the payer once money has come in. */
  source: col.json<Party>().mut,
  destination: col.json<Party>(),
  source_account: col.text.null,
  destination_account: col.text.null,
  sent_amount: col.int8.null,
  sent_currency: col.text.null,
  received_amount: col.int8.null,
  received_currency: col.text.null,
  /** Service and platform fees together, in the sending currency. */
  fees: col.int8.null,
  platform_fees: col.int8.null,
  /** The platform's own account that earns `platform_fees`. */
  platform_fee_account: col.text.null,
  /** Sending units for one receiving unit, as a decimal. */
  exchange_rate: col.text.null,
  rate_details: col.json<Record<string, number>>().null,
  quote_id: col.text.null,
  description: col.text.null,
  /** The agent that began it. */
  agent_id: col.text.null,
  remittance: col.text.null,
  /** Why it is sent, for the rail. */
  purpose: col.text.null,
  /** What the platform wants to know of whoever is at the other end, by field name. */
  counterparty: col.json<Record<string, unknown>>().null,
  rail: col.text.null,
  rail_mode: col.word<'AUTO' | 'MANUAL'>().null,
  expected_settlement_at: col.time.null,
  settlement_seconds: col.int4.null,
  failure_reason: col.word<FailureReason>().null.mut,
  pending_reason: col.word<PendingReason>().null.mut,
  refund: col.json<Refund>().null.mut,
  /** What came in for a payment that is funded from outside, smallest units of the sending currency. */
  funded_amount: col.int8.null.mut,
  /** When what is under way outside, a pull or a payout, was first sent. */
  sent_at: col.time.null.mut,
  /** When somebody asked to call it back and the rail has not answered yet. */
  cancel_requested_at: col.time.null.mut,
  /** Whether it is too much for a wallet whose owner has not proven that it is theirs. */
  needs_proof: col.bool.null,
  /** Where to pay in for it. */
  instructions: col.json<PaymentInstructions[]>().null,
  /** What its connector needs beyond the row: the accepted pay request of a UMA payment. */
  carrier: col.json<Record<string, unknown>>().null,
  /** What the receiving platform is asked about its customer before it may accept. */
  requested_fields: col.json<{ name: string; mandatory: boolean }[]>().null,
  /** The movements on a chain that brought it in and took it out. */
  source_chain: col.json<OnChain>().null.mut,
  destination_chain: col.json<OnChain>().null.mut,
  /** What a payment with a card is made of; null for every other. */
  card: col.json<CardFacts>().null.mut,
  settled_at: col.time.null.mut,
  receipt_confirmed_at: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

const LIVES = { INCOMING: incomingStates, OUTGOING: outgoingStates, CARD: cardPaymentStates };

/** Every change of a row keeps to the lifecycles: how far the payment is, and how far its refund. */
export const transactions = table('transactions', columns, {
  lives: [
    { state: (row) => row.status, states: (row) => LIVES[row.type] },
    { state: (row) => row.refund?.status ?? 'NONE', states: refundStates },
  ],
});
