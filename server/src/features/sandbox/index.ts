// Public interface of the sandbox operations.
import type { Feature } from '../../runtime/operation/feature.ts';
import type { CardParts } from '../cards/index.ts';
import { type BusinessJobParts, businessJobs } from './business/job.ts';
import { sandboxCardOperations } from './cards.ts';
import { type ClockParts, sandboxClockOperations } from './clock/operations.ts';
import { sandboxOperations } from './operations.ts';
import { sandboxSendOperations } from './send.ts';
import { sandboxUmaOperations } from './uma.ts';
import { type SandboxWorldParts, sandboxWorldOperations } from './world/operations.ts';
import { type StatusParts, sandboxStatusOperations } from './world/status.ts';

export type { ClockWork } from './clock/advance.ts';
export { getSandboxClock, updateSandboxClock } from './clock/contract.ts';
export { createSandboxFixtures, resetSandbox } from './world/contract.ts';
export type { SandboxWorldParts } from './world/operations.ts';
export { WORLD_LIST } from './world/worlds.ts';
export type { ClockParts };

/** Operations, jobs and other parts that this feature adds to a server. */
export const sandboxFeature = {
  operations: (parts: CardParts & SandboxWorldParts & StatusParts & ClockParts) => [
    ...sandboxWorldOperations(parts),
    ...sandboxStatusOperations(parts),
    ...sandboxSendOperations,
    ...sandboxUmaOperations(parts.connectors),
    ...sandboxCardOperations(parts),
    ...sandboxOperations,
    ...sandboxClockOperations(parts),
  ],
  jobs: (parts: BusinessJobParts) => businessJobs(parts),
  reset: { belongs: { sandbox_clocks: 't.id = any($1::text[])' } },
} satisfies Feature;
