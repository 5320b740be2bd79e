// Public interface of webhook deliveries, for the composition, replays and the operator's
// commands.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { deliveryOperations } from './operations.ts';

export {
  deliveriesOfEvent,
  listDroppedEvents,
  listPending,
  pageOfDeliveriesByOperator,
  pageOfDeliveriesOfPlatforms,
  pageOfDroppedEvents,
  pageOfPending,
  resendEventByOperator,
} from './by-operator.ts';
export { listWebhookDeliveries, WebhookDelivery, WebhookDeliveryDetails } from './contract.ts';
export { deliveryHealth, endpointsWithHealth, MAX_COUNTED } from './health.ts';
export { pageOfDeliveries } from './list.ts';
export { deliveryId, eventIdsOf } from './position.ts';
export { countUndelivered } from './store.ts';

/** Parts that this feature adds to a server. */
export const deliveryFeature = {
  operations: () => deliveryOperations,
} satisfies Feature;
