// How a transaction is shown, and announced when it changed.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { transactionWebhooks } from './contract.ts';

export { CardMerchant } from './card-contract.ts';
export {
  cancelTransaction,
  cardTransaction,
  confirmReceiptDelivery,
  getTransactionById,
  IncomingTransaction,
  incomingPayment,
  listTransactions,
  OutgoingTransaction,
  outgoingPayment,
  RateDetails,
  TransactionOneOf,
} from './contract.ts';
export {
  instructionsOf,
  paymentReference,
  presentTransaction,
  refundReference,
  transactionOfReference,
} from './present.ts';
export { presentCardPayment } from './present-card.ts';
export { emitPayment, eventsOf, moveAndTell, patch } from './staging.ts';

/** What this feature adds to a server. */
export const presentationFeature = {
  webhooks: transactionWebhooks,
} satisfies Feature;
