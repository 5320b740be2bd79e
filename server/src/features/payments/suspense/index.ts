// Notices awaited from rails, and money that waits for a person's decision.

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
  occurrenceOf,
  recordDecision,
  type Said,
} from './suspense-items.ts';
