// What other features may use of transactions: their rows, and the steps of a payment.
export {
  type CardFacts,
  isPulling,
  type PullFact,
  pulledOf,
  refundedOf,
  settledOf,
} from './card.ts';
export { CardMerchant } from './card-contract.ts';
export { type CardEvent, type CardStatus, cardPaymentStates } from './card-states.ts';
export {
  cancelTransaction,
  confirmReceiptDelivery,
  getTransactionById,
  IncomingTransaction,
  listTransactions,
  OutgoingTransaction,
  RateDetails,
  TransactionOneOf,
  transactionWebhooks,
} from './contract.ts';
export { payoutOf, pullOf, refundOf, type UmaCarrier } from './instructions.ts';
export { fund } from './legs.ts';
export {
  anyTransactionOf,
  CANCEL_FUNDING,
  CANCEL_PULL,
  transactionOf,
  transactionOperations,
} from './operations.ts';
export { type Ask, overRail, type RailMovement } from './over-rail.ts';
export { awaitDecision, inSuspense, type ParkedRow, parked } from './parked.ts';
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
export {
  type ConnectorsOf,
  currentOf,
  heedPayout,
  heedRefund,
  isBeingSent,
  loadOf,
  payoutJobs,
  putOff,
} from './payout-jobs.ts';
export {
  instructionsOf,
  paymentReference,
  presentTransaction,
  refundReference,
  type TransactionRow,
  transactionOfReference,
} from './present.ts';
export { goesBackByRail, openRefund, takesBack } from './refund.ts';
export { coverMissing, parkedCurrency, parkedFrom, returnParked } from './resolve.ts';
export { moveAndTell, patch, tell } from './staging.ts';
export {
  type FailureReason,
  INCOMING_FAILURES,
  incomingStates,
  OUTGOING_FAILURES,
  outgoingStates,
  refundStates,
} from './states.ts';
export { PENDING_REASONS, type PendingReason, type Refund, transactions } from './store.ts';
export {
  awaitNotice,
  isWanted,
  noticeCame,
  railNotices,
  railWaits,
  type WaitKind,
  type WaitRow,
} from './waits.ts';
