// What the composition and the operator's command use of webhooks.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { testWebhooks } from './contract.ts';
import { type WebhookDeps, webhookOperations } from './operations.ts';

export { listAttempts, listDroppedEvents, resendEventByHand } from './by-hand.ts';
export { createDeliverer, type Deliverer } from './deliverer.ts';
export type { WebhookDeps } from './operations.ts';
export { putQuestion, type QuestionDeps } from './question.ts';

/** What this feature adds to a server. */
export const webhookFeature = {
  operations: ({ webhooks }: { webhooks: WebhookDeps }) => webhookOperations(webhooks),
  webhooks: testWebhooks,
} satisfies Feature;
