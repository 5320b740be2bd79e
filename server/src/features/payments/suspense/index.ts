// Results of rails and the queue of awaited results, payment references, and funds in suspense.

export {
  awaitedResultOf,
  awaitRailResult,
  isExpected,
  railResultsOf,
  recordNotice,
  recordRailResult,
  reportedResults,
  type WaitKind,
  type WaitRow,
} from './rail-results.ts';
export {
  paymentReferenceOf,
  refundReferenceOf,
  transactionIdOfReference,
} from './reference.ts';
export {
  awaitDecision,
  cancelDecision,
  findCardPaymentsInSuspense,
  type OperatorInput,
  occurrenceOf,
  readSuspenseAmounts,
  recordDecision,
} from './suspense-items.ts';
