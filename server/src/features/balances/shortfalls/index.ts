// Money that has to leave an account after it was spent, and what its owner owes for it.
export { refuseOwing, repayOwed, takeBack } from './shortfall.ts';
