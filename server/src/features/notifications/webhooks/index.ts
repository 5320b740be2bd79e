// What the composition and the operator's command use of webhooks.
export { testWebhooks } from './contract.ts';
export { createDeliverer, type Deliverer } from './deliverer.ts';
export { type WebhookDeps, webhookOperations } from './operations.ts';
export { putQuestion, type QuestionDeps } from './question.ts';
export type { Sent } from './send.ts';
export {
  type AttemptRow,
  attemptsOf,
  type DroppedEvent,
  droppedEvents,
  resendEvent,
} from './store.ts';
