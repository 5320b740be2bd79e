// The main error of every operation, from a real server, and how errors are narrowed.
import { describe, expect, it } from 'vitest';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { read } from '../../../server/test/structure/sources.ts';
import { type Client, isRailheadError, RailheadError } from '../src/index.ts';
import { clientOf, functionOf } from './kit/clients.ts';

const app = testApp();

interface Described {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { required?: boolean };
  responses: Record<string, unknown>;
}

const document = JSON.parse(read('openapi.json')) as {
  paths: Record<string, Record<string, Described>>;
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

const UNKNOWN = 'Unknown:019b8d60-2a80-7000-8000-00000000ffff';

/** Parameters of the path with an id that nothing has. */
const idsOf = ({ parameters = [] }: Described) =>
  Object.fromEntries(
    parameters.filter((each) => each.in === 'path').map(({ name }) => [name, UNKNOWN]),
  );

/** Where every field of the body is optional. */
const INVALID: Record<string, object> = { updatePlatformConfig: { webhookEndpoint: 1 } };

async function errorOf(client: Client, operation: Described, input: object) {
  const call = functionOf(client, operation.operationId)(input, { maxRetries: 0 });
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error !== undefined && !isRailheadError(error)) throw error;
  return error;
}

describe('every operation', () => {
  it('rejects a wrong credential with UNAUTHORIZED', async () => {
    const wrong = { clientId: 'nothing', clientSecret: 'wrong' };
    const client = await clientOf(app, { agentToken: 'wrong' }, wrong);
    const found: string[] = [];
    for (const operation of operations) {
      if (operation.security?.length === 0) continue;
      const error = await errorOf(client, operation, idsOf(operation));
      const isExpected = error?.status === 401 && error.code === 'UNAUTHORIZED';
      if (!isExpected || !error.requestId) found.push(`${operation.operationId}: ${error}`);
    }
    expect(operations.length).toBeGreaterThanOrEqual(172);
    expect(found).toEqual([]);
  });

  it('rejects an invalid request or an unknown id with a declared status and code', async () => {
    const client = await clientOf(app, { agentToken: 'wrong' });
    const found: string[] = [];
    let rejected = 0;
    for (const operation of operations) {
      const isAgents = operation.security?.some((each) => 'AgentAuth' in each);
      const ids = idsOf(operation);
      const isWrong = Object.keys(ids).length > 0 || operation.requestBody?.required;
      if (isAgents || !isWrong) continue;
      const input = { ...ids, ...INVALID[operation.operationId] };
      const error = await errorOf(client, operation, input);
      rejected++;
      const isDeclared = error && String(error.status) in operation.responses;
      const isClients = [400, 404, 410].includes(error?.status ?? 0);
      if (!isDeclared || !isClients) found.push(`${operation.operationId}: ${error}`);
    }
    expect(rejected).toBeGreaterThan(100);
    expect(found).toEqual([]);
  });
});

describe('an error', () => {
  it('has the fields of the reply', async () => {
    const client = await clientOf(app);
    // The types exclude it; a program in JavaScript can call it.
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

  it('narrows by operation', async () => {
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
