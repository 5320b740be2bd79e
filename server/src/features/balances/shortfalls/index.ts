// Shortfalls of accounts: funds that were returned after they were spent.
export { checkNoShortfall, debitWithShortfall, repayShortfall } from './shortfall.ts';
