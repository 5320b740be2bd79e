// The main error of every operation, from a real server, and the narrowing of errors. The scenarios of
// the examples contain every operation, and test that it succeeds.
import { beforeAll, describe, expect, it } from 'vitest';
import { agentFixture } from '../../../server/test/kit/agents/agents.ts';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { read, trackedFiles } from '../../../server/test/structure/sources.ts';
import { type Client, isRailheadError, RailheadError } from '../src/index.ts';
import { clientOf, functionOf } from './kit/clients.ts';

const app = testApp();
/** A token of an agent with all permissions. */
let agentToken: string;
beforeAll(async () => {
  agentToken = (await agentFixture(app).createAgent()).accessToken;
});

interface DescribedOperation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { required?: boolean };
  responses: Record<string, unknown>;
}

const document = JSON.parse(read('openapi.json')) as {
  paths: Record<string, Record<string, DescribedOperation>>;
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

const UNKNOWN = 'Unknown:019b8d60-2a80-7000-8000-00000000ffff';

/** Parameters of the path with an ID that does not exist. */
const idsOf = ({ parameters = [] }: DescribedOperation) =>
  Object.fromEntries(
    parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => [name, UNKNOWN]),
  );

const hasParameter = ({ parameters = [] }: DescribedOperation, parameter: string) =>
  parameters.some(({ name }) => name === parameter);

/** Input that the operation rejects, or undefined if the operation has no such input. */
function invalidInput(operation: DescribedOperation): object | undefined {
  const { operationId, requestBody } = operation;
  // Every field of the body is optional.
  if (operationId === 'updatePlatformConfig') return { webhookEndpoint: 1 };
  const ids = idsOf(operation);
  if (Object.keys(ids).length > 0 || requestBody?.required) return ids;
  return hasParameter(operation, 'limit') ? { limit: 0 } : undefined;
}

async function errorOf(client: Client, operation: DescribedOperation, input: object) {
  const call = functionOf(client, operation.operationId)(input, { maxRetries: 0 });
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error !== undefined && !isRailheadError(error)) throw error;
  return error;
}

describe('every operation', () => {
  it('rejects an invalid credential with UNAUTHORIZED', async () => {
    const invalidCredentials = { clientId: 'nothing', clientSecret: 'wrong' };
    const client = await clientOf(app, { agentToken: 'wrong' }, invalidCredentials);
    const unexpectedResults: string[] = [];
    for (const operation of operations) {
      if (operation.security?.length === 0) continue;
      const error = await errorOf(client, operation, idsOf(operation));
      const isExpected = error?.status === 401 && error.code === 'UNAUTHORIZED';
      if (!isExpected || !error.requestId)
        unexpectedResults.push(`${operation.operationId}: ${error}`);
    }
    expect(operations.length).toBeGreaterThanOrEqual(172);
    expect(unexpectedResults).toEqual([]);
  });

  it('rejects an invalid request or an unknown ID with a declared status of 400, 404 or 410', async () => {
    const client = await clientOf(app, { agentToken });
    const unexpectedResults: string[] = [];
    let rejectedCount = 0;
    for (const operation of operations) {
      const input = invalidInput(operation);
      if (!input) continue;
      const error = await errorOf(client, operation, input);
      rejectedCount++;
      const isDeclared = error && String(error.status) in operation.responses;
      const isClientError = [400, 404, 410].includes(error?.status ?? 0);
      if (!isDeclared || !isClientError)
        unexpectedResults.push(`${operation.operationId}: ${error}`);
    }
    expect(rejectedCount).toBeGreaterThan(150);
    expect(unexpectedResults).toEqual([]);
  });

  it('for agents returns FORBIDDEN if it requires a permission that the policy lacks', async () => {
    const { accessToken } = await agentFixture(app).createAgent({
      permissions: ['EXECUTE_QUOTES'],
    });
    const client = await clientOf(app, { agentToken: accessToken });
    const codes: Record<string, string | undefined> = {};
    for (const operation of operations) {
      const isForAgents = operation.security?.some((scheme) => 'AgentAuth' in scheme);
      if (!isForAgents || Object.keys(idsOf(operation)).length || operation.requestBody) continue;
      const error = await errorOf(client, operation, {});
      codes[operation.operationId] = error?.code;
    }
    expect(codes).toEqual({
      getAgentMe: undefined,
      agentListActions: undefined,
      agentListInternalAccounts: 'FORBIDDEN',
      agentListTransactions: 'FORBIDDEN',
      agentListExternalAccounts: 'FORBIDDEN',
    });
  });

  it('succeeds in a scenario of the examples', () => {
    const files = trackedFiles.filter((file) => /^server\/examples\/\w+\.json$/.test(file));
    const exampleOperations = new Set(
      files.flatMap((file) =>
        (
          JSON.parse(read(file)) as { exchanges: { operationId: string; status: number }[] }
        ).exchanges
          .filter(({ status }) => status < 400)
          .map(({ operationId }) => operationId),
      ),
    );
    const missingOperations = operations.filter(
      ({ operationId }) => !exampleOperations.has(operationId),
    );
    expect(missingOperations.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('an error', () => {
  it('has the fields of the reply', async () => {
    const client = await clientOf(app);
    // The types exclude this input, but a program in JavaScript can send it.
    const input = { customerType: 'INDIVIDUAL', email: 'nonsense' } as never;
    const error = await client.customers.createCustomer(input).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RailheadError);
    expect(error).toMatchObject({
      name: 'RailheadError',
      status: 400,
      code: 'INVALID_INPUT',
      operationId: 'createCustomer',
      retryable: false,
    });
    const { fields, message, requestId } = error as RailheadError;
    expect(fields.map(({ field }) => field)).toContain('email');
    expect(message).toContain('createCustomer: INVALID_INPUT: ');
    expect(message).toContain(requestId);
  });

  it('is narrowed by operation', async () => {
    const client = await clientOf(app);
    const error: unknown = await client.quotes
      .getQuoteById({ quoteId: UNKNOWN })
      .catch((reason: unknown) => reason);
    expect(isRailheadError(error)).toBe(true);
    expect(isRailheadError(error, 'getQuoteById')).toBe(true);
    expect(isRailheadError(error, 'createQuote')).toBe(false);
    expect(isRailheadError(new Error('another'))).toBe(false);
    if (isRailheadError(error, 'getQuoteById')) expect(error.code).toBe('QUOTE_NOT_FOUND');
  });

  it('names a missing parameter or credential before a request is sent', async () => {
    const client = await clientOf(app);
    await expect(client.quotes.getQuoteById({ quoteId: '' })).rejects.toMatchObject({
      code: 'INVALID_CLIENT_INPUT',
      status: 0,
    });
    await expect(client.agentOperations.getAgentMe()).rejects.toThrow('no `agentToken`');
  });
});
