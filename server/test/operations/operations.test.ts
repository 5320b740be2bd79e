// Rules for every operation, generated from the contracts, so that a new operation is covered
// automatically. A request without credentials, without the permission, or for another platform's
// resources is rejected. An internal error reveals no details.
import { beforeAll, describe, expect, it } from 'vitest';
import { namingFor } from '../../src/catalog/naming.ts';
import { systemCaller } from '../../src/features/tenancy/platform/index.ts';
import type { Operation } from '../../src/http/bind.ts';
import { createServer } from '../../src/http/server.ts';
import { type Contract, idempotencyOf } from '../../src/kernel/contract/operation.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { createMetrics } from '../../src/runtime/observability/metrics.ts';
import { agentFixture, type FundedAgent } from '../kit/agents/agents.ts';
import { createCustomer } from '../kit/app/fixtures.ts';
import { type CallOptions, contractChecker, wireOf } from '../kit/app/harness.ts';
import { createOneOfEach } from '../kit/app/one-of-each.ts';
import { openForFile, testApp } from '../kit/app/test-app.ts';
import { createEuropeanCustomer } from '../kit/customers/contacts.ts';
import { bodyOf, document, requestPath } from '../kit/http/requests.ts';

type Json = Record<string, unknown>;

/** A UMA address is public, and the code of an invitation or a device is a bearer secret. */
const OPEN_TO_ALL = [
  'lookupUma',
  'getInvitation',
  'claimInvitation',
  'cancelInvitation',
  'redeemAgentDeviceCode',
];

/** A server with low rate limits. */
const limitedServer = testApp({ rateLimits: { requests: 2, quotes: 1, rejected: 0 } });
let foreignIds: Record<string, string>;
/** IDs of resources of another customer of the same platform, and of its agent. */
let otherCustomerIds: Record<string, string>;
/** A customer subject to strong authentication. */
let europeanId: string;
/** Agents of the main platforms of the two servers. */
let agent: FundedAgent;
let limitedAgent: Awaited<ReturnType<ReturnType<typeof agentFixture>['connectAgent']>>;

const app = testApp();
beforeAll(async () => {
  foreignIds = await createOneOfEach(app, app.other);
  otherCustomerIds = await createOneOfEach(app, app.platform);
  agent = await agentFixture(app).createAgent();
  europeanId = (await createEuropeanCustomer(app)).id;
  limitedAgent = await agentFixture(limitedServer).connectAgent(
    (await createCustomer(limitedServer)).id,
  );
});

// Read from the published document, so that the list exists before a server does.
const contracts = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operationId: operation.operationId as string,
    /** The credential type: BasicAuth, AgentAuth or none. */
    auth: Object.keys((operation.security as Json[])[0] ?? {})[0],
  })),
);

const contractOf = (operationId: string): Contract => {
  const operation = app.operations.find(
    (operation) => operation.contract.operationId === operationId,
  );
  if (!operation) throw new Error(`${operationId} is published but not served`);
  return operation.contract;
};

const withBearer = (token: string): CallOptions => ({
  platform: null,
  headers: { authorization: `Bearer ${token}` },
});

let keyCount = 0;

/** A caller that the operation accepts, with an idempotency key where required. */
const withPermission = (contract: Contract, token = agent.accessToken): CallOptions => {
  if (contract.auth === 'agent') return withBearer(token);
  return idempotencyOf(contract) === 'required'
    ? { headers: { 'idempotency-key': `operations-${++keyCount}` } }
    : {};
};

let failureCount = 0;
/** Each failure has a separate code, because the log collapses errors of one code. */
function createFailure(): Error {
  return Object.assign(new Error('internal detail'), { code: `FAILURE_${++failureCount}` });
}

/** The same operation with a handler that throws. */
const breakOperation = (operation: Operation): Operation => ({
  ...operation,
  async run() {
    throw createFailure();
  },
});

/** A server that accepts every credential and fails afterwards, with its log lines. */
async function openFailingServer() {
  let hasAcceptedCaller = false;
  const lines: string[] = [];
  const { runtime, files, operations, platform } = app;
  const acceptCaller = async () => {
    hasAcceptedCaller = true;
    return systemCaller(platform.id, platform.environment);
  };
  const isPublic = ({ contract: { operationId } }: Operation) =>
    contracts.some((contract) => contract.operationId === operationId && !contract.auth);
  const server = createServer({
    files,
    runtime: {
      ...runtime,
      clocks: {
        ...runtime.clocks,
        timeOf(owner) {
          if (hasAcceptedCaller) throw createFailure();
          return runtime.clocks.timeOf(owner);
        },
      },
    },
    // Operations without a credential authenticate no caller.
    operations: operations.map((operation) =>
      isPublic(operation) ? breakOperation(operation) : operation,
    ),
    authenticate: acceptCaller,
    agents: { callerOf: acceptCaller, wasValid: () => true },
    naming: namingFor('Service'),
    log: createLog(runtime.effects, 'error', (line) => lines.push(line)),
    metrics: createMetrics(),
    watch: contractChecker([]),
  });
  const reset = () => {
    hasAcceptedCaller = false;
    lines.length = 0;
  };
  return { server, lines, reset, close: () => server.close() };
}

const failingServer = openForFile(openFailingServer);

/** Operations that require credentials. */
const guardedContracts = contracts.filter(({ auth }) => auth);

describe.each(guardedContracts)('$operationId', ({ operationId }) => {
  it('requires credentials', async () => {
    const contract = contractOf(operationId);
    const target = requestPath(contract, (name) => foreignIds[name] ?? 'x');
    const wrongCredentials = { ...app.platform, clientSecret: 'wrong' };
    const responses = [];
    for (const options of [
      { platform: null },
      { platform: wrongCredentials },
      withBearer('abc'),
      withBearer(`gat_${'0'.repeat(40)}`),
      // Valid credentials of the wrong type.
      contract.auth === 'agent' ? {} : withBearer(agent.accessToken),
    ]) {
      responses.push(await app.call(contract.method, target, bodyOf(contract), options));
    }
    for (const response of responses) {
      expect([response.status, response.body.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(response.body).toEqual(responses[0]?.body);
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('returns Retry-After for a token over the rate limit', async () => {
    const contract = contractOf(operationId);
    const limitedOperation = limitedServer.operations.find(
      (operation) => operation.contract.operationId === operationId,
    );
    const target = requestPath(contract, (name) => foreignIds[name] ?? 'x');
    const options = withPermission(contract, limitedAgent.accessToken);
    const request = () => limitedServer.call(contract.method, target, bodyOf(contract), options);
    limitedServer.effects.set(limitedServer.effects.now() + 10_000);
    // An agent has a share of its platform's limit.
    const capacity = limitedOperation?.contract.rateClass || contract.auth === 'agent' ? 2 : 4;
    for (let requestCount = 0; requestCount < capacity; requestCount++) {
      expect((await request()).status).not.toBe(429);
    }
    const response = await request();
    expect([response.status, response.body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(response.headers['retry-after']).toBe('1');
    expect(response.headers['ratelimit-remaining']).toBe('0');
  });
});

describe.each(contracts.filter(({ auth }) => auth === 'BasicAuth'))(
  '$operationId',
  ({ operationId }) => {
    it('requires its permission', async () => {
      const contract = contractOf(operationId);
      const otherPermissions = (['VIEW', 'TRANSACT', 'MANAGE'] as const).filter(
        (permission) => permission !== contract.permission,
      );
      const token = await app.tokenWith(otherPermissions);
      const target = requestPath(contract, (name) => foreignIds[name] ?? 'x');
      const response = await app.call(contract.method, target, bodyOf(contract), {
        platform: token,
      });
      expect([response.status, response.body.code]).toEqual([403, 'FORBIDDEN']);
    });
  },
);

describe.each(contracts)('$operationId', ({ operationId, path }) => {
  // Public resources and those with a bearer code are visible to other platforms. The tests of
  // their features cover this access.
  if (path.includes('{') && !OPEN_TO_ALL.includes(operationId)) {
    it("returns the same error for another platform's ID as for an unknown ID", async () => {
      const contract = contractOf(operationId);
      const unknownIdOf = (name: string) => {
        const id = foreignIds[name];
        if (!id) throw new Error(`createOneOfEach has no ${name}. Add one for ${operationId}`);
        return id
          .replace(/[0-9a-f]{12}$/, '0123456789ab')
          .replace(/(-[0-9A-Z]{4}){3}$/, '-2222-2222-2222');
      };
      const request = (value: (name: string) => string) => {
        const target = requestPath(contract, value, europeanId);
        return app.call(contract.method, target, bodyOf(contract), withPermission(contract));
      };
      const otherResponse = await request((name) => foreignIds[name] as string);
      const unknownReply = await request(unknownIdOf);
      const malformedReply = await request(() => 'no-such-thing');
      expect(otherResponse.status).toBe(404);
      expect(otherResponse.body.code).toBe(contract.notFound);
      expect(otherResponse.body).toEqual(unknownReply.body);
      expect(otherResponse.body).toEqual(malformedReply.body);
      const encodedReply = await request((name) => encodeURIComponent(foreignIds[name] as string));
      expect(encodedReply.body).toEqual(otherResponse.body);
      if (contract.auth !== 'agent') return;
      const otherCustomerReply = await request((name) => otherCustomerIds[name] as string);
      expect(otherCustomerReply.body).toEqual(otherResponse.body);
    });

    it('returns the same error for an ID with a NUL, even with an idempotency key', async () => {
      const contract = contractOf(operationId);
      const target = requestPath(contract, () => '%00', europeanId);
      const callerOptions = withPermission(contract);
      const keyHeaders: Record<string, string>[] = [{}, { 'idempotency-key': 'zero' }];
      for (const keyHeader of keyHeaders) {
        const options = { ...callerOptions, headers: { ...callerOptions.headers, ...keyHeader } };
        const response = await app.call(contract.method, target, bodyOf(contract), options);
        expect([response.status, response.body.code]).toEqual([404, contract.notFound]);
      }
    });
  }

  it.each(['', '   '])('rejects the empty idempotency key "%s"', async (key) => {
    const contract = contractOf(operationId);
    const target = requestPath(contract, (name) => foreignIds[name] ?? 'x', europeanId);
    const callerOptions = withPermission(contract);
    const headers = { ...callerOptions.headers, 'idempotency-key': key };
    const response = await app.call(contract.method, target, bodyOf(contract), {
      ...callerOptions,
      headers,
    });
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(response.body.details.errors).toContainEqual({
      ...{ field: 'Idempotency-Key', message: 'must not be empty' },
    });
  });

  it('hides the details of an internal error', async () => {
    const contract = contractOf(operationId);
    const { server, lines } = failingServer;
    failingServer.reset();
    const body = bodyOf(contract);
    const encodedBody = body === undefined ? undefined : await wireOf(body);
    const reply = await server.inject({
      method: contract.method,
      url: `/2025-10-13${requestPath(contract, (name) => foreignIds[name] ?? 'x')}`,
      headers: {
        ...withPermission(contract).headers,
        ...(encodedBody ? { 'content-type': encodedBody.type } : {}),
      },
      ...(encodedBody ? { payload: encodedBody.payload } : {}),
    });
    expect(reply.statusCode).toBe(500);
    expect(reply.json().code).toBe('INTERNAL_ERROR');
    expect(reply.body).not.toContain('internal detail');
    expect(lines.join('')).toContain('internal detail');
    expect(lines.join('')).toContain(String(reply.headers['x-request-id']));
  });
});

describe('operations with two-step requests', () => {
  it('make no external calls, which would remain after the first change set is discarded', () => {
    const semanticOperations = app.operations.filter(({ contract }) => contract.semanticValidation);
    expect(semanticOperations.length).toBeGreaterThan(4);
    expect(
      semanticOperations.filter(({ contract }) => contract.callsExternal || contract.upload),
    ).toEqual([]);
  });
});

describe('the server', () => {
  it('returns a JSON error for an unknown path', async () => {
    const response = await app.call('GET', '/nothing/here');
    expect([response.status, response.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('returns a JSON error with the allowed methods for a wrong method', async () => {
    const response = await app.call('PUT', '/customers');
    expect([response.status, response.body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(response.headers.allow).toContain('POST');
    expect((await app.call('GET', '/quotes')).status).toBe(405);
  });

  it('accepts IDs raw or percent-encoded', async () => {
    const person = await createCustomer(app);
    const unencodedReply = await app.call('GET', `/customers/${person.id}`);
    const encodedReply = await app.call('GET', `/customers/${encodeURIComponent(person.id)}`);
    expect(unencodedReply.body).toEqual(encodedReply.body);
    expect(unencodedReply.status).toBe(200);
  });

  it('rejects an invalid, too large or missing body', async () => {
    const headers = { 'content-type': 'application/json' };
    const login = `${app.platform.clientId}:${app.platform.clientSecret}`;
    const send = (payload: string | Buffer) =>
      app.server.inject({
        method: 'POST',
        url: '/2025-10-13/quotes',
        headers: {
          ...headers,
          authorization: `Basic ${Buffer.from(login).toString('base64')}`,
        },
        payload,
      });
    for (const payload of [
      '{"a":"\\u0000"}',
      '{"a":"\\ud83d"}',
      '{"a":"\\uDE00 x"}',
      '{',
      'x'.repeat(1_100_000),
      '',
      'null',
      '[]',
      '"text"',
    ]) {
      const reply = await send(payload);
      expect([payload.slice(0, 9), reply.statusCode]).toEqual([payload.slice(0, 9), 400]);
      expect(reply.json().code).toBe('INVALID_INPUT');
    }
    const response = await send('{"a":"\\ud83d\\uDE00 \\\\ud83d"}');
    expect(response.json().reason).not.toContain('half');
    // A lenient decoder would replace the invalid byte by U+FFFD, which the next request sends.
    const invalidReply = await send(Buffer.from([0x22, 0xff, 0x22]));
    expect([invalidReply.statusCode, invalidReply.json().reason]).toEqual([
      400,
      'The body is not encoded in UTF-8.',
    ]);
    expect((await send('"\ufffd"')).json().reason).not.toContain('UTF-8');
  });
});
