// What other features may use of quotes: the parties and pricing of a payment, its start, and the door for
// money that arrives.
export { authorizeQuote, resendQuoteScaCode } from './authorize-contract.ts';
export { createQuote, executeQuote, getQuoteById, Quote, QuoteRequest } from './contract.ts';

export { checkExecutable, startPayment } from './execute.ts';
export { expiryJobs, expirySweep } from './expiry.ts';
export { fundingJobs, heedFunding, type Notice, takeBackFunds, takeDeposit } from './funding.ts';
export { insertPayment } from './insert.ts';
export { lapseJobs } from './lapse.ts';
export { admit, needsProof } from './limits.ts';
export { quoteOperations } from './operations.ts';
export {
  checkPullable,
  livingOwner,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
} from './parties.ts';
export type { QuoteRow } from './present.ts';
export { pricedTransfer } from './pricing.ts';
export {
  makeQuote,
  paymentOf,
  quoteOf,
  quoteView,
  type Start,
  signQuote,
  startQuote,
} from './quote.ts';
export { quotes } from './store.ts';
