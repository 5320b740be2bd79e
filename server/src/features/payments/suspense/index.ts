// Notices awaited from rails, and money that waits for a person's decision.

export {
  awaitDecision,
  cardPaymentsInSuspense,
  decided,
  inSuspense,
  parked,
  type Said,
  turnOf,
} from './parked.ts';
export { paymentReference, refundReference, transactionOfReference } from './reference.ts';
export {
  awaitNotice,
  isWanted,
  noticeCame,
  railNotices,
  railWaits,
  type WaitKind,
  type WaitRow,
} from './waits.ts';
