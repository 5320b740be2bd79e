// Notices awaited from rails, and money that waits for a person's decision.

export {
  awaitRailResult,
  isWanted,
  noticeCame,
  recordRailResult,
  type WaitKind,
  type WaitRow,
  waitOf,
} from './rail-results.ts';
export { paymentReference, refundReference, transactionOfReference } from './reference.ts';
export {
  awaitDecision,
  cardPaymentsInSuspense,
  decided,
  endDecision,
  inSuspense,
  type Said,
  turnOf,
} from './suspense-items.ts';
