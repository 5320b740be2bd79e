// Payments and quotes of all platforms for the operator, without personal data.
export { pageOfPayments, paymentById } from './payments.ts';
export { pageOfQuotes } from './quotes.ts';
