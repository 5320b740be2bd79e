// Public interface of the feature that reconciles the ledger with statements of providers.
import type { Feature } from '../../runtime/operation/feature.ts';
import { type ReconciliationDeps, reconciliationJobs, statementSweep } from './jobs.ts';

export { balancesOfProviders, closeDay, pageOfDays } from './closing.ts';
export { decideDifference } from './decide.ts';
export {
  assignDifference,
  differenceBy,
  pageOfDifferences,
  watchDifferences,
} from './differences.ts';
export { stageReconciliation } from './jobs.ts';
export { changeSource, readSource } from './sources.ts';
export { receivePage } from './statements.ts';
export {
  DECISIONS,
  DIFFERENCE_KINDS,
  DIFFERENCE_STATUSES,
} from './store.ts';

/** The jobs, sweeps and tables of this feature. */
export const reconciliationFeature = {
  jobs: (deps: ReconciliationDeps) => reconciliationJobs(deps),
  sweeps: (deps: ReconciliationDeps) => [statementSweep(deps)],
  reset: {
    retained: {
      ...{ statement_sources: 'true', provider_days: 'true', provider_statements: 'true' },
      ...{ provider_statement_pages: 'true', provider_statement_lines: 'true' },
      reconciliation_differences: 'true',
    },
  },
} satisfies Feature;
