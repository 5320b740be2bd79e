// Public interface of the messages of providers.
import type { Feature } from '../../../runtime/operation/feature.ts';

export { pageOfMessages } from './list.ts';
export { authenticateProvider, receiveMessage } from './receive.ts';
export { STORED_RESULTS } from './store.ts';

/** What this feature adds to a server. */
export const providerMessageFeature = {
  reset: { retained: { provider_messages: 'true' } },
} satisfies Feature;
