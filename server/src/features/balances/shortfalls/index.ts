// Money that has to leave an account after it was spent, and what its owner owes for it.
export { checkNoShortfall, debitWithShortfall, repayShortfall } from './shortfall.ts';
