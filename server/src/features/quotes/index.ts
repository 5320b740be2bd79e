// What other features may use of quotes: the parties and pricing of a payment, its start, and the door for
// money that arrives.
export { createQuote, executeQuote, getQuoteById } from './contract.ts';

export { startPayment } from './execute.ts';
export { fundingJobs, heedFunding, type Notice, takeBackFunds, takeDeposit } from './funding.ts';
export { insertPayment } from './insert.ts';
export { admit, needsProof } from './limits.ts';
export { expirySweep, quoteOperations } from './operations.ts';
export { checkPullable, type Payee, type Payer, payeeOf, payerOf } from './parties.ts';
export { pricedTransfer } from './pricing.ts';
export { quotes } from './store.ts';
