// Public interface of provider messages.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { messageRetention, providerMessagePersonalData } from './personal-data.ts';
import { bodyContext } from './store.ts';

export type {
  CardEntry,
  CardNetwork,
  CardOutcome,
  StageMessage,
} from './card-network.ts';
export { pageOfMessages } from './list.ts';
export { authenticateProvider, receiveMessage, type StablecoinMessage } from './receive.ts';
export { STORED_RESULTS } from './store.ts';
export { subjectOf } from './transfers.ts';

/** Parts that this feature adds to a server. */
export const providerMessageFeature = {
  sealed: [{ table: 'provider_messages', column: 'body', contexts: (id) => [bodyContext(id)] }],
  personalData: providerMessagePersonalData,
  sweeps: ({ providerMessageRetentionMs }: { providerMessageRetentionMs: number }) => [
    messageRetention(providerMessageRetentionMs),
  ],
  reset: { retained: { provider_messages: 'true' } },
} satisfies Feature<{ providerMessageRetentionMs: number }>;
