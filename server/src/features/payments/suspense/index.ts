// Awaited results of manual rails, and funds in suspense.

export {
  awaitedResultOf,
  awaitRailResult,
  isExpected,
  recordNotice,
  recordRailResult,
  type WaitKind,
  type WaitRow,
} from './rail-results.ts';
export {
  paymentReferenceOf as paymentReference,
  refundReferenceOf as refundReference,
  transactionIdOfReference as transactionOfReference,
} from './reference.ts';
export {
  awaitDecision,
  cancelDecision,
  findCardPaymentsInSuspense as cardPaymentsInSuspense,
  type OperatorInput,
  occurrenceOf,
  readSuspenseAmounts as inSuspense,
  recordDecision,
} from './suspense-items.ts';
