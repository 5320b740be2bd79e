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
export { paymentReference, refundReference, transactionOfReference } from './reference.ts';
export {
  awaitDecision,
  cancelDecision,
  cardPaymentsInSuspense,
  inSuspense,
  type OperatorInput,
  occurrenceOf,
  recordDecision,
} from './suspense-items.ts';
