// What other features may use of transactions: their rows, and the steps of a payment.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { cardPaymentStates } from './cards/card-states.ts';
import { transactionWebhooks } from './contract.ts';
import { transactionOperations } from './operations.ts';
import { type ConnectorsOf, payoutJobs } from './payouts/payout-jobs.ts';
import { incomingStates, outgoingStates, refundStates } from './states.ts';

export {
  type CardFacts,
  isPulling,
  type PullFact,
  pulledOf,
  refundedOf,
  settledOf,
} from './cards/card.ts';
export { CardMerchant } from './cards/card-contract.ts';
export type { CardEvent, CardStatus } from './cards/card-states.ts';
export { cardPaymentStates } from './cards/card-states.ts';
export { presentCardPayment } from './cards/present-card.ts';
export {
  cardTransaction,
  getTransactionById,
  IncomingTransaction,
  incomingPayment,
  listTransactions,
  OutgoingTransaction,
  RateDetails,
  TransactionOneOf,
} from './contract.ts';
export { anyTransactionOf, CANCEL_FUNDING, CANCEL_PULL, transactionOf } from './operations.ts';
export {
  awaitAuthorization,
  awaitFunds,
  type CameIn,
  checkFunds,
  expirePayment,
  failPayout,
  failUnauthorized,
  payInside,
  refuseCancel,
  refuseFunds,
  releasePayment,
  startPayout,
} from './payment.ts';
export { payoutOf, pullOf, refundOf } from './payouts/instructions.ts';
export { MovementInput, overRail, type RailMovement } from './payouts/over-rail.ts';
export { awaitDecision, inSuspense, parked } from './payouts/parked.ts';
export {
  type ConnectorsOf,
  currentOf,
  heedPayout,
  heedRefund,
  isBeingSent,
  loadOf,
  type PaymentJob,
  postpone,
} from './payouts/payout-jobs.ts';
export { goesBackByRail, openRefund, PaymentInput, takesBack } from './payouts/refund.ts';
export { coverMissing, parkedCurrency, parkedFrom, returnParked } from './payouts/resolve.ts';
export {
  awaitNotice,
  isWanted,
  noticeCame,
  railNotices,
  railWaits,
  type WaitKind,
  type WaitRow,
} from './payouts/waits.ts';
export {
  instructionsOf,
  paymentReference,
  presentTransaction,
  transactionOfReference,
} from './present.ts';
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
export { emitPayment, eventsOf, moveAndTell, patch } from './staging.ts';
export {
  type FailureReason,
  INCOMING_FAILURES,
  incomingStates,
  OUTGOING_FAILURES,
  refundStates,
} from './states.ts';
export {
  type CardPaymentRow,
  type IncomingRow,
  type OutgoingRow,
  type PaymentRow,
  PENDING_REASONS,
  type PendingReason,
  readTransaction,
  requireTransaction,
  type TransactionRow,
  transactions,
  type UmaCarrier,
} from './store.ts';

/** What this feature adds to a server. */
export const transactionFeature = {
  operations: () => transactionOperations,
  jobs: ({ connectors }: { connectors: ConnectorsOf }) => payoutJobs(connectors),
  webhooks: transactionWebhooks,
  states: {
    outgoing: outgoingStates,
    incoming: incomingStates,
    cardPayment: cardPaymentStates,
    refund: refundStates,
  },
} satisfies Feature;
