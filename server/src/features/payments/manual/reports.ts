// Functions for messages and statements of providers. They apply the same steps as the results that
// an operator records.
import {
  depositIdOf,
  depositReportedBy,
  depositsById,
  depositsOf,
  depositsReportedIn,
  prepareDeposit,
  reversalTimeOf,
  stageDeposit,
  stageDepositReturn,
} from './deposits.ts';
import { applyNotice } from './notice.ts';
import { hasSettled } from './transfers.ts';

export const providerReports = {
  apply: applyNotice,
  hasSettled,
  depositOf: depositReportedBy,
  depositIdOf,
  depositsById,
  depositsOf,
  depositsReportedIn,
  reversalTimeOf,
  prepareDeposit,
  stageDeposit,
  stageDepositReturn,
};
