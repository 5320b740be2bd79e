// The published OpenAPI document without a running server: contracts are plain values, so the
// document needs no running operations.
import { namingFor } from './catalog/naming.ts';
import { operationsOf, type Parts, webhookContracts } from './features.ts';
import { readExamples } from './http/examples.ts';
import { openApiSteps } from './http/openapi.ts';
import { commonCodesOf, ownCodesOf } from './http/operation-errors.ts';
import type { Contract } from './kernel/contract/operation.ts';
import { runToEnd } from './kernel/steps.ts';

export { referenceFiles } from './http/reference.ts';
export { statesPage } from './states-page.ts';

/** No part is called while the document is generated. */
const described = (): Contract[] => {
  const parts: Partial<Parts> = {
    tokens: {} as Parts['tokens'],
    webhooks: {} as Parts['webhooks'],
    connectors: () => ({}),
  };
  return operationsOf(parts as Parts).map((each) => each.contract);
};

/** For each operation, the error codes that it lists and those that follow from its kind. */
export const publishedErrors = () =>
  described().map((contract) => ({
    operationId: contract.operationId,
    own: ownCodesOf(contract),
    common: commonCodesOf(contract),
  }));

/** The committed document, with the neutral service name prefix. */
export function publishedDocument(): Record<string, unknown> {
  return runToEnd(
    openApiSteps(described(), webhookContracts, namingFor('Service'), readExamples()),
  );
}
