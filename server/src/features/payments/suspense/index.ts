// Notices awaited from rails, and money that waits for a person's decision.

export {
  awaitDecision,
  cardPaymentsInSuspense,
  decided,
  endDecision,
  inSuspense,
  type Said,
  turnOf,
} from './parked.ts';
export { paymentReference, refundReference, transactionOfReference } from './reference.ts';
export {
  awaitNotice,
  isWanted,
  keepNotice,
  noticeCame,
  type WaitKind,
  type WaitRow,
  waitOf,
} from './waits.ts';
