// What a payment costs, who may make it, and the pending transaction that is made of it.

export { aboutOwner } from './counterparty.ts';
export { insertPayment } from './insert.ts';
export { admit, checkReceiver, needsProof } from './limits.ts';
export {
  activeOwner,
  checkPullable,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
  realtimePayer,
} from './parties.ts';
export { type Priced, pricedFor, pricedTransfer } from './pricing.ts';
export { checkAccountDiscovery, payeeOfUma, payerData, requestPayment, senderOf } from './uma.ts';
