// Transaction rows and their lifecycles.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { incomingStates, outgoingStates, refundStates } from './states.ts';

export {
  asIncoming,
  asOutgoing,
  asPayment,
  debitedOf,
  insertTransaction,
  loadTransaction,
  receivedOf,
  sourceAccountOf,
} from './rows.ts';
export { FAILURE_REASONS, type FailureReason } from './states.ts';
export {
  type CardPaymentRow,
  changeTransaction,
  type IncomingRow,
  type OutgoingRow,
  type PaymentRow,
  readTransaction,
  requireTransaction,
  type TransactionRow,
  transactionPages,
} from './store.ts';

/** Parts that this feature adds to a server. */
export const transactionFeature = {
  states: {
    outgoing: outgoingStates,
    incoming: incomingStates,
    refund: refundStates,
  },
} satisfies Feature;
