// Public interface of the sandbox operations.
import type { Feature } from '../../runtime/operation/feature.ts';
import type { CardDeps } from '../cards/index.ts';
import { type BusinessJobDeps, businessJobs } from './business/job.ts';
import { sandboxCardOperations } from './cards.ts';
import { type ClockDeps, sandboxClockOperations } from './clock/operations.ts';
import { sandboxOperations } from './operations.ts';
import { sandboxSendOperations } from './send.ts';
import { sandboxUmaOperations } from './uma.ts';
import { type SandboxWorldDeps, sandboxWorldOperations } from './world/operations.ts';
import { type StatusDeps, sandboxStatusOperations } from './world/status.ts';

export type { ClockWork } from './clock/advance.ts';
export { getSandboxClock, updateSandboxClock } from './clock/contract.ts';
export { createSandboxFixtures, resetSandbox } from './world/contract.ts';
export type { SandboxWorldDeps } from './world/operations.ts';
export { WORLD_LIST } from './world/worlds.ts';
export type { ClockDeps };

/** Operations, jobs and other parts that this feature adds to a server. */
export const sandboxFeature = {
  operations: (deps: CardDeps & SandboxWorldDeps & StatusDeps & ClockDeps) => [
    ...sandboxWorldOperations(deps),
    ...sandboxStatusOperations(deps),
    ...sandboxSendOperations,
    ...sandboxUmaOperations(deps.connectors),
    ...sandboxCardOperations(deps),
    ...sandboxOperations,
    ...sandboxClockOperations(deps),
  ],
  jobs: (deps: BusinessJobDeps) => businessJobs(deps),
  reset: { belongs: { sandbox_clocks: 't.id = any($1::text[])' } },
} satisfies Feature;
