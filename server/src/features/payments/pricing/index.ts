// Parties, price and admission of a payment, and its pending transaction.

export { ownerInformation } from './counterparty.ts';
export { insertPayment } from './insert.ts';
export { checkAdmission, checkReceiver, needsProof } from './limits.ts';
export {
  checkDebitable,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
  requireActiveOwner,
  requireRealtimePayer,
} from './parties.ts';
export {
  type PaymentPrice,
  priceRequest,
  priceTransfer,
} from './pricing.ts';
export { checkAccountDiscovery, payeeOfUma, payerData, requestPayment, senderOf } from './uma.ts';
