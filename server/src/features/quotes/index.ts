// What other features may use of quotes: the parties and pricing of a payment, and its start.
export { createQuote, executeQuote, getQuoteById } from './contract.ts';
export { insertPayment, type Priced } from './create.ts';
export { startPayment } from './execute.ts';
export { admit } from './limits.ts';
export { expirySweep, quoteOperations } from './operations.ts';
export { type Payee, type Payer, payeeOf, payerOf } from './parties.ts';
export { quotes } from './store.ts';
