// Public interface of replays.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { replayJobs } from './jobs.ts';
import { replayOperations } from './operations.ts';
import { replayStates } from './states.ts';
import { replayRetention } from './store.ts';

/** Parts that this feature adds to a server. */
export const replayFeature = {
  operations: () => replayOperations,
  jobs: replayJobs,
  sweeps: () => [replayRetention()],
  states: { webhookReplay: replayStates },
} satisfies Feature;
