// The published OpenAPI document without a server behind it: contracts are plain values, so describing
// the operations needs none of what running them needs.
import { namingFor } from './catalog/naming.ts';
import { operationsOf, type Parts, webhookContracts } from './compose.ts';
import { openApiSteps } from './http/openapi.ts';
import { runAtOnce } from './kernel/steps.ts';

export { statesPage } from './states-page.ts';

/** The document as it is committed, under the neutral service word. */
export function publishedDocument(): Record<string, unknown> {
  // Nothing of this is called while a document is made.
  const parts = { connectors: () => ({}), tokens: {}, webhooks: {} } as unknown as Parts;
  const contracts = operationsOf(parts).map((each) => each.contract);
  return runAtOnce(openApiSteps(contracts, webhookContracts, namingFor('Service')));
}
