// Recalls: requests for the return of settled payouts.
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { ConnectorsOf } from '../payouts/index.ts';
import { recallJobs } from './recall.ts';
import { recallStates } from './store.ts';

export { applyReportedRecall, recallOf, requestRecall } from './recall.ts';
export { RECALL_STATES } from './store.ts';

/** Jobs and other parts that this feature adds to a server. */
export const recallFeature = {
  jobs: ({ connectors }: { connectors: ConnectorsOf }) => recallJobs(connectors),
  states: { recall: recallStates },
} satisfies Feature;
