// Public interface of webhook endpoints.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { endpointWebhooks } from './contract.ts';
import { sealedEndpointKeys } from './keys.ts';
import { endpointOperations } from './operations.ts';
import { pausingSweep } from './pausing.ts';
import { deletedEndpointSweep } from './purge.ts';
import { retainedDeliverySweep } from './retained.ts';

export { WebhookEndpoint } from './contract.ts';
export { endpointOf, pulledEndpointOf } from './find.ts';
export { createEndpointSigner, type EndpointSigner } from './keys.ts';
export { endpointViews, platformOfEndpoint, setEndpointStatus } from './operations.ts';
export {
  type FailingEndpoint,
  firstFailingEndpoint as firstFailing,
  pauseFailing,
} from './pausing.ts';
export { configuredId } from './present.ts';
export { dropExpiredDeliveries } from './retained.ts';
export { CONFIGURED, type EndpointKey, type EventFormat } from './store.ts';
export { deliveryTargets, receivesType, type Target } from './targets.ts';

/** Parts that this feature adds to a server. */
export const endpointFeature = {
  sealed: [sealedEndpointKeys],
  operations: endpointOperations,
  webhooks: endpointWebhooks,
  sweeps: () => [pausingSweep(), retainedDeliverySweep(), deletedEndpointSweep()],
} satisfies Feature;
