// What the composition and the operator's command use of webhooks.
export { testWebhooks } from './contract.ts';
export { createDeliverer, type Deliverer } from './deliverer.ts';
export { type WebhookDeps, webhookOperations } from './operations.ts';
export { putQuestion, type QuestionDeps } from './question.ts';
export { attemptsOf, droppedEvents, resendEvent } from './store.ts';
