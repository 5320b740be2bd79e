// Operations of payments, accounts and books.
import { depositOperations } from './deposits.ts';
import { payoutOperations } from './payouts.ts';
import { suspenseOperations } from './suspense.ts';

export const paymentOperations = [...depositOperations, ...payoutOperations, ...suspenseOperations];
