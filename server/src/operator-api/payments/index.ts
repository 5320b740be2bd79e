// Operations of payments, accounts, the ledger and stablecoins.
import { accountOperations } from './accounts.ts';
import { depositOperations } from './deposits.ts';
import { exportOperations } from './exports.ts';
import { ledgerOperations } from './ledger.ts';
import { ledgerAccountOperations } from './ledger-accounts.ts';
import { payoutOperations } from './payouts.ts';
import { stablecoinOperations } from './stablecoins.ts';
import { suspenseOperations } from './suspense.ts';

export const paymentOperations = [
  ...depositOperations,
  ...payoutOperations,
  ...suspenseOperations,
  ...accountOperations,
  ...ledgerOperations,
  ...ledgerAccountOperations,
  ...exportOperations,
  ...stablecoinOperations,
];
