// Public interface of pulled deliveries.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { type PullDeps, pullOperations } from './operations.ts';

/** Parts that this feature adds to a server. */
export const pullFeature = {
  operations: (deps: PullDeps) => pullOperations(deps),
} satisfies Feature;
