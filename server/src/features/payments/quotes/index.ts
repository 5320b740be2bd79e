// What other features may use of quotes: the parties and pricing of a payment, its start, and the door for
// money that arrives.

export { createQuote, executeQuote, getQuoteById, Quote, QuoteRequest } from './contract.ts';

export { checkExecutable, startPayment } from './execution/execute.ts';
export {
  fundingJobs,
  heedFunding,
  type Notice,
  takeBackFunds,
  takeDeposit,
} from './execution/funding.ts';
export { lapseJobs } from './execution/lapse.ts';
export { expiryJobs, expirySweep } from './expiry.ts';
export { insertPayment } from './insert.ts';
export { quoteOperations } from './operations.ts';
export { paymentPersonalData } from './personal-data.ts';
export type { QuoteRow } from './present.ts';
export { admit, needsProof } from './pricing/limits.ts';
export {
  checkPullable,
  livingOwner,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
} from './pricing/parties.ts';
export { pricedTransfer } from './pricing/pricing.ts';
export { paymentOf, quoteOf, quoteView, signQuote, startQuote } from './quote.ts';
export { quotes } from './store.ts';
