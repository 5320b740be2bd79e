// Public interface of the list of events.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { type EventDeps, eventOperations } from './operations.ts';
import { epochSweep } from './sweeps.ts';

export { eventByOperator, pageOfEventsByOperator, platformOfEventById } from './by-operator.ts';
export { createFollowers, type Followers } from './followers.ts';
export { type EventHead, eventsOfPlatforms } from './heads.ts';
export { countEvents, eventsAfter } from './range.ts';
export {
  type Counted,
  countedSql,
  frontierOf,
  horizonOf,
  openEpoch,
  requestsWithEvents,
  subjectsAfter,
} from './store.ts';

/** Parts that this feature adds to a server. */
export const eventFeature = {
  operations: (deps: EventDeps) => eventOperations(deps),
  sweeps: () => [epochSweep()],
} satisfies Feature;
