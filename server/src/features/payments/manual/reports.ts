// Functions for messages of providers, which take the same steps as results that an operator records.
import { depositReportedBy } from './deposits.ts';
import { applyNotice } from './notice.ts';
import { hasSettled } from './transfers.ts';

export const providerReports = { apply: applyNotice, hasSettled, depositOf: depositReportedBy };
