// Transactions as rows, and how each may go on.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { cardPaymentStates } from './card-states.ts';
import { incomingStates, outgoingStates, refundStates } from './states.ts';

export {
  type CardFactColumns,
  type CardFacts,
  columnsOf,
  factsOf,
  isPulling,
  newFacts,
  type PullFact,
  pulledOf,
  refundedOf,
  settledOf,
  sumOf,
} from './card.ts';
export {
  CARD_STATUSES,
  type CardEvent,
  type CardStatus,
  cardPaymentStates,
} from './card-states.ts';
export {
  asCardPayment,
  asIncoming,
  asOutgoing,
  asPayment,
  cardAccountOf,
  debitedOf,
  fundedAmountOf,
  insertCardPayment,
  insertIncoming,
  insertOutgoing,
  isOutgoing,
  sourceAccountOf,
  transactionAt,
} from './rows.ts';
export {
  type FailureReason,
  INCOMING_FAILURES,
  type IncomingStatus,
  incomingStates,
  OUTGOING_FAILURES,
  type OutgoingStatus,
  outgoingStates,
  refundStates,
} from './states.ts';
export {
  type CardPaymentRow,
  type IncomingRow,
  type OutgoingRow,
  type Party,
  type PaymentRow,
  PENDING_REASONS,
  type PendingReason,
  type Refund,
  readTransaction,
  type TransactionRow,
  transactions,
  type UmaCarrier,
} from './store.ts';

/** What this feature adds to a server. */
export const transactionFeature = {
  states: {
    outgoing: outgoingStates,
    incoming: incomingStates,
    cardPayment: cardPaymentStates,
    refund: refundStates,
  },
} satisfies Feature;
