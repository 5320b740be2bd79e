// Public interface of provider messages.
import type { Feature } from '../../../runtime/operation/feature.ts';

export type {
  CardEntry,
  CardNetwork,
  CardOutcome,
  StageMessage,
} from './card-network.ts';
export { pageOfMessages } from './list.ts';
export { authenticateProvider, receiveMessage } from './receive.ts';
export { STORED_RESULTS } from './store.ts';
export { subjectOf } from './transfers.ts';

/** Parts that this feature adds to a server. */
export const providerMessageFeature = {
  reset: { retained: { provider_messages: 'true' } },
} satisfies Feature;
