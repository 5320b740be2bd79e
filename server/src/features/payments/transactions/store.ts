// A transaction: one payment out, in, or both ends of one inside the house. `funds` says where its money
// is, apart from `status`, which says what the platform is told; refunds act on `funds`.

import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import type { OnChain } from '../../../connectors/ports/index.ts';
import type { PageQuery } from '../../../runtime/db/paging.ts';
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

/** A party of a transaction as the API shows it. */
type Party = Record<string, unknown>;

interface Refund {
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
type Funds =
  | 'NONE'
  | 'AWAITED'
  | 'FUNDED'
  | 'HELD'
  | 'SUBMITTED'
  | 'SETTLED'
  | 'RETURNED'
  | 'SUSPENSE';

/** The accepted pay request that a payment to a UMA address carries. */
interface UmaPayload {
  uma: { reference: string; sender: string; payerData: Record<string, unknown> };
}

/** Why money that came in must not be spent yet. */
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
  type: col.word<'INCOMING' | 'OUTGOING' | 'CARD'>(),
  direction: col.word<'CREDIT' | 'DEBIT'>(),
  status: col.word<OutgoingStatus | IncomingStatus | CardStatus>().mut,
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
  rail_payload: col.json<UmaPayload>().null,
  /** What the receiving platform is asked about its customer before it may accept. */
  requested_fields: col.json<{ name: string; mandatory: boolean }[]>().null,
  /** The movements on a chain that brought it in and took it out. */
  source_chain: col.json<OnChain>().null.mut,
  destination_chain: col.json<OnChain>().null.mut,
  // Of a card payment, and null for every other; `card-payments/facts.ts` says what each is.
  card: col.json<CardDetails>().null,
  card_authorized: col.int8.null.mut,
  card_closed: col.bool.null.mut,
  card_clearings: col.int8s.null.mut,
  card_refunds: col.int8s.null.mut,
  card_funding_debits: col.int8s.null.mut,
  card_funding_debit_statuses: col.words<FundingDebitStatus>().null.mut,
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

/** A row whose columns in `Own` hold more than their descriptions say. */
type With<Own extends Partial<Common>> = Omit<Common, keyof Own> & Own;

// What a type guarantees of its columns. The constraint `transactions_columns` holds the same.

type NoCard = { [K in keyof CardColumns]: null };

/** A payment that a customer or the platform makes. */
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

/** Funds received: a deposit, a pull, a payment from a UMA address, or one made by another customer here. */
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
  /** The account that pays or is paid is denominated in it. */
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

const LIVES = {
  INCOMING: incomingStates,
  OUTGOING: outgoingStates,
  CARD: cardPaymentFeature.states.cardPayment,
};

/** Every change of a row keeps to the lifecycles: how far the payment is, and how far its refund. */
export const transactions = table('transactions', columns, {
  rows: rows<TransactionRow>(),
  lifecycles: [
    { state: (row) => row.status, states: (row) => LIVES[row.type] },
    { state: (row) => row.refund?.status ?? 'NONE', states: refundStates },
  ],
});

/** One transaction by id, read together with those that concurrent callers ask for. */
export const readTransaction = (reader: Reader, id: string): Promise<TransactionRow | undefined> =>
  reader.read(transactions, id);

/** The commit fails if the transaction changed since it was read. */
export const requireTransaction = (ctx: Ctx, row: TransactionRow): void =>
  ctx.require(transactions, row);

/** A page of transactions. A bad cursor is INVALID_INPUT. */
export const pageTransactions = (ctx: Ctx, query: PageQuery) => ctx.db.page(transactions, query);

type Change<R> = PatchOf<typeof transactions, R>;

/** Stages a change of the transaction, which keeps its type. */
export const changeTransaction = <R extends TransactionRow>(
  ctx: Ctx,
  row: R,
  change: Change<R>,
): R =>
  ctx.update(transactions, row, { ...change, updated_at: ctx.now } as Change<TransactionRow>) as R;
