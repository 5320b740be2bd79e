// Published documents without a running server, such as the OpenAPI documents and the error codes.
// Contracts are plain values, so handlers are not needed.
import { namingFor } from './catalog/naming.ts';
import { PROVIDER_SCHEMAS } from './features/providers/index.ts';
import { type Deps, operationsOf, webhookContracts } from './features.ts';
import { readExamples } from './http/examples.ts';
import { openApiSteps } from './http/openapi.ts';
import { commonCodesOf, ownCodesOf } from './http/operation/errors.ts';
import type { Contract } from './kernel/contract/operation.ts';
import { toOpenApi } from './kernel/schema.ts';
import { runToEnd } from './kernel/steps.ts';
import { OPERATOR_OPERATIONS } from './operator-api/index.ts';

export { providerDocument } from './connectors/gateway/document.ts';
export { operatorReferenceFiles, referenceFiles, withAddresses } from './http/reference.ts';
export { operatorDocument } from './operator-api/mount.ts';
export { statesPage } from './states-page.ts';

/** Placeholders, because the dependencies are not called while the document is generated. */
const contractsOfServer = (): Contract[] => {
  const deps: Partial<Deps> = {
    tokens: {} as Deps['tokens'],
    webhooks: {} as Deps['webhooks'],
    connectors: () => ({}),
  };
  return operationsOf(deps as Deps).map((each) => each.contract);
};

/** For each operation, the error codes of its contract and those common to its kind. */
export const publishedErrors = () =>
  contractsOfServer().map((contract) => ({
    operationId: contract.operationId,
    specificCodes: ownCodesOf(contract),
    commonCodes: commonCodesOf(contract),
  }));

/** IDs of the operator operations to which an approval policy with a minimum amount can apply. */
export const postingOperations = (): string[] =>
  OPERATOR_OPERATIONS.flatMap(({ contract }) => (contract.postsMoney ? contract.operationId : []));

/** The committed document, with the neutral service name prefix. */
export function publishedDocument(): Record<string, unknown> {
  return runToEnd(
    openApiSteps(contractsOfServer(), webhookContracts, namingFor('Service'), readExamples()),
  );
}

/** The JSON schema of the file with providers and routes. */
export const providerFileSchema = (): Record<string, unknown> => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Providers and routes of a Railhead installation',
  ...(toOpenApi(PROVIDER_SCHEMAS.ProviderFile, {}) as Record<string, unknown>),
});
