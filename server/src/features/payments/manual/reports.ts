// What messages of providers need: the same steps as for a result that an operator records.
import { depositReportedBy } from './deposits.ts';
import { applyNotice } from './notice.ts';
import { hasSettled } from './transfers.ts';

export const providerReports = { apply: applyNotice, hasSettled, depositOf: depositReportedBy };
