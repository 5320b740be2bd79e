// Transactions: outgoing, incoming and card payments. An internal payment between two owners has one
// transaction for each owner. `status` is the status in the API. `funds` is the state of the funds and
// determines the refund.

import type { StoredRateDetails } from '../../../catalog/currencies/rate-details.ts';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import type { OnChain } from '../../../connectors/ports/index.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { PageQuery } from '../../../runtime/db/paging.ts';
import { pageInSteps, type StepQuery } from '../../../runtime/db/steps.ts';
import { col, type PatchOf, type RowOfColumns, rows, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import {
  type CardColumns,
  type CardDetails,
  type CardStatus,
  cardPaymentFeature,
  type FundingDebitStatus,
} from '../card-payments/index.ts';
import {
  type FailureReason,
  type IncomingStatus,
  incomingStates,
  type OutgoingStatus,
  outgoingStates,
  refundStates,
} from './states.ts';

type Party = Record<string, unknown>;

interface Refund {
  reference: string;
  initiatedAt: string;
  settledAt?: string;
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
  reason: 'TRANSACTION_FAILED' | 'USER_CANCELLATION' | 'TIMEOUT';
}

/** State of the funds of a payment. */
type Funds =
  /** Not debited, or not arrived. */
  | 'NONE'
  /** Awaited from a debit or from the sending provider. */
  | 'AWAITED'
  /** Outgoing only: received in `inbound`. */
  | 'FUNDED'
  /**
   * Outgoing: held on the source. Incoming: received, and not available, forwarded or returned yet.
   */
  | 'HELD'
  /** Outgoing: submitted to the rail. Incoming: submitted to the external account. */
  | 'SUBMITTED'
  | 'SETTLED'
  | 'RETURNED'
  /** In suspense for a decision. */
  | 'SUSPENSE';

/** The accepted pay request of a payment to a UMA address. */
interface UmaPayload {
  uma: { reference: string; sender: string; payerData: Record<string, unknown> };
}

/** Reason for which received funds are held. */
type PendingReason =
  | 'COUNTERPARTY_DECLARATION_REQUIRED'
  | 'WALLET_VERIFICATION_REQUIRED'
  | 'COUNTERPARTY_INFORMATION_REQUIRED'
  | 'COMPLIANCE_REVIEW';

const columns = {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text.null,
  platform_customer_id: col.text,
  type: col.enum<'INCOMING' | 'OUTGOING' | 'CARD'>(),
  direction: col.enum<'CREDIT' | 'DEBIT'>(),
  status: col.enum<OutgoingStatus | IncomingStatus | CardStatus>().mut,
  funds: col.enum<Funds>().mut,
  /** Completed with the originator's details when funds are received. */
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
  /** The account of the platform that earns `platform_fees`. */
  platform_fee_account: col.text.null,
  /** Sending units for one receiving unit, as a decimal. */
  exchange_rate: col.text.null,
  rate_details: col.json<StoredRateDetails>().null,
  quote_id: col.text.null,
  description: col.text.null,
  /** The agent that requested the payment. */
  agent_id: col.text.null,
  remittance: col.text.null,
  /** Purpose of payment, for the rail. */
  purpose: col.text.null,
  /** Counterparty information that the platform requires, by field name. */
  counterparty: col.json<Record<string, unknown>>().null,
  rail: col.text.null,
  rail_mode: col.enum<'AUTO' | 'MANUAL'>().null,
  expected_settlement_at: col.time.null,
  settlement_seconds: col.int4.null,
  failure_reason: col.enum<FailureReason>().null.mut,
  pending_reason: col.enum<PendingReason>().null.mut,
  refund: col.json<Refund>().null.mut,
  /** Funds received for an externally funded payment, in minor units of the sending currency. */
  funded_amount: col.int8.null.mut,
  /** Time at which the current debit or payout was started, before it is sent. */
  sent_at: col.time.null.mut,
  /** Time at which cancellation was requested, or null without a pending request. */
  cancel_requested_at: col.time.null.mut,
  /** Whether the amount requires a proof of ownership of the destination wallet. */
  needs_proof: col.bool.null,
  instructions: col.json<PaymentInstructions[]>().null,
  rail_payload: col.json<UmaPayload>().null,
  /** Fields about its customer that the receiving platform provides with its approval. */
  requested_fields: col.json<{ name: string; mandatory: boolean }[]>().null,
  /** Blockchain transactions of the incoming and the outgoing transfer. */
  source_chain: col.json<OnChain>().null.mut,
  destination_chain: col.json<OnChain>().null.mut,
  // Null except for card payments. See `card-payments/facts.ts`.
  card: col.json<CardDetails>().null,
  card_authorized: col.int8.null.mut,
  card_closed: col.bool.null.mut,
  card_clearings: col.int8s.null.mut,
  card_refunds: col.int8s.null.mut,
  card_funding_debits: col.int8s.null.mut,
  card_funding_debit_statuses: col.enums<FundingDebitStatus>().null.mut,
  card_released: col.int8.null.mut,
  card_written_off: col.int8.null.mut,
  card_recovered: col.int8.null.mut,
  card_undone_clearings: col.int4.null.mut,
  card_reversed_refunds: col.int4.null.mut,
  card_last_event_at: col.time.null.mut,
  settled_at: col.time.null.mut,
  receipt_confirmed_at: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

type Common = RowOfColumns<typeof columns>;

/** A row whose columns in `Narrowed` have narrower types. */
type With<Narrowed extends Partial<Common>> = Omit<Common, keyof Narrowed> & Narrowed;

// The columns that each type guarantees. The constraint `transactions_columns` enforces the same.

type NoCard = { [K in keyof CardColumns]: null };

/** A payment that a customer or the platform sends. */
export type OutgoingRow = With<
  NoCard & {
    type: 'OUTGOING';
    direction: 'DEBIT';
    status: OutgoingStatus;
    destination_account: string;
    sent_amount: bigint;
    sent_currency: string;
    received_amount: bigint;
    received_currency: string;
    fees: bigint;
    platform_fees: bigint;
    exchange_rate: string;
  }
>;

/**
 * Funds received: a deposit, a debit, a payment from a UMA address, or an internal payment by another owner.
 */
export type IncomingRow = With<
  NoCard & {
    type: 'INCOMING';
    direction: 'CREDIT';
    status: IncomingStatus;
    destination_account: string;
    received_amount: bigint;
    received_currency: string;
  }
>;

type CardPayment = CardColumns & {
  type: 'CARD';
  status: CardStatus;
  customer_id: string;
  /** Amount in `sent_currency`, the currency of the debited or credited account. */
  sent_amount: bigint;
  sent_currency: string;
};

/** A card payment, or a merchant credit to a card. */
export type CardPaymentRow =
  | With<CardPayment & { direction: 'DEBIT'; source_account: string }>
  | With<CardPayment & { direction: 'CREDIT'; destination_account: string }>;

export type TransactionRow = OutgoingRow | IncomingRow | CardPaymentRow;

/** A transaction without a card. */
export type PaymentRow = OutgoingRow | IncomingRow;

const LIFECYCLES = {
  INCOMING: incomingStates,
  OUTGOING: outgoingStates,
  CARD: cardPaymentFeature.states.cardPayment,
};

export const transactions = table('transactions', columns, {
  rows: rows<TransactionRow>(),
  lifecycles: [
    { state: (row) => row.status, states: (row) => LIFECYCLES[row.type] },
    { state: (row) => row.refund?.status ?? 'NONE', states: refundStates },
  ],
});

/** Reads by ID. Concurrent reads are batched. */
export const readTransaction = (reader: Reader, id: string): Promise<TransactionRow | undefined> =>
  reader.read(transactions, id);

/** The commit fails if the transaction changed since it was read. */
export const requireTransaction = (ctx: Ctx, row: TransactionRow): void =>
  ctx.require(transactions, row);

/** Pages of transactions. Both functions throw INVALID_INPUT for an invalid cursor. */
export const transactionPages = {
  byFilters: (ctx: Ctx, query: PageQuery) => ctx.db.page(transactions, query),
  /** Transactions of all platforms or one owner, newest first, with any filters. */
  inSteps: (db: Pick<Database, 'query'>, query: Omit<StepQuery, 'resources'>) =>
    pageInSteps(db, transactions, { ...query, resources: ['Transaction', 'CardTransaction'] }),
};

type Change<R> = PatchOf<typeof transactions, R>;

export const changeTransaction = <R extends TransactionRow>(
  ctx: Ctx,
  row: R,
  change: Change<R>,
): R =>
  ctx.update(transactions, row, { ...change, updated_at: ctx.now } as Change<TransactionRow>) as R;
