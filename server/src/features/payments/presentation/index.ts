// The API view of a transaction, and the events about its changes.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { transactionWebhooks } from './contract.ts';
import { transactionOperations } from './operations.ts';

export { CardMerchant } from './card-contract.ts';
export {
  cardTransaction,
  getTransactionById,
  incomingPayment,
  listTransactions,
  outgoingPayment,
} from './contract.ts';
export { anyTransactionOf, transactionOf } from './operations.ts';
export { instructionsOf, presentTransaction } from './present.ts';
export { presentCardPayment } from './present-card.ts';
export { emitPayment, eventsOf, postAndNotify } from './staging.ts';
export { RateDetails } from './transaction-parts.ts';
export {
  IncomingTransaction,
  OutgoingTransaction,
  TransactionOneOf,
} from './transaction-schemas.ts';

/** Parts that this feature adds to a server. */
export const presentationFeature = {
  operations: () => transactionOperations,
  webhooks: transactionWebhooks,
} satisfies Feature;
