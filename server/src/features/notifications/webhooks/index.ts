// Public interface of webhook delivery.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { testWebhooks } from './contract.ts';
import { type WebhookDeps, webhookOperations } from './operations.ts';
import { webhookReset } from './store.ts';

export { countDue, requeueEvents } from './attempts-store.ts';
export {
  createDeliverer,
  type Deliverer,
  type PlatformDeliveries,
} from './deliverer.ts';
export { openData, type StoredEvent, withBalances } from './envelope.ts';
export type { WebhookDeps } from './operations.ts';
export { longestOverdueSeconds, watchPending } from './pending-metric.ts';
export { openDeliveries } from './reader.ts';
export { createDeliverySigner, type DeliverySigner } from './send.ts';
export { type AttemptRow, ENQUEUE, firstQueued } from './store.ts';
export { type SynchronousDeps, sendSynchronously } from './synchronous.ts';

/** Parts that this feature adds to a server. */
export const webhookFeature = {
  operations: ({ webhooks }: { webhooks: WebhookDeps }) => webhookOperations(webhooks),
  webhooks: testWebhooks,
  reset: webhookReset,
} satisfies Feature;
