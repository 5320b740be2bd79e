// States of a replay.
import { stateTable } from '../../../kernel/states.ts';

export type ReplayStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED';

export const replayStates = stateTable<ReplayStatus, 'proceed' | 'complete' | 'fail'>(
  'Replay of webhooks',
  {
    PROCESSING: { proceed: 'PROCESSING', complete: 'COMPLETED', fail: 'FAILED' },
    COMPLETED: {},
    FAILED: {},
  },
);
