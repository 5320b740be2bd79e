// Records the examples of the operator API, as `kit/http/examples.ts` does for the platform API.
// The first change of an operation that can require an approval is preceded by the reply to the same
// request while a policy requires an approval.
import path from 'node:path';
import { expect, it } from 'vitest';
import { createPolicy, removePolicy } from '../../../src/features/staff/approvals/index.ts';
import type { Exchange } from '../../../src/http/examples.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { fieldErrors } from '../../../src/kernel/contract/validate.ts';
import type { Code } from '../../../src/kernel/fault.ts';
import { OPERATOR_OPERATIONS } from '../../../src/operator-api/index.ts';
import { ok } from '../app/fixtures.ts';
import type { ApiResponse, AppOptions } from '../app/harness.ts';
import { startProduction } from '../app/production.ts';
import { openForFile } from '../app/test-app.ts';
import { stableText, type TextReplacements } from '../examples/values.ts';
import {
  type DescribedRequest,
  EXAMPLES_FOLDER,
  errorList,
  exchangeOf,
  urlOf,
} from '../http/examples.ts';
import { FIRST_OPERATOR, operatorClient } from './client.ts';
import type { Browser } from './people.ts';

type Service = Awaited<ReturnType<typeof startProduction>>;

interface OperatorRequest extends DescribedRequest {
  /** The browser of a signed-in user. By default, a token sends the request. */
  person?: Browser;
  /** The secret of another token. */
  secret?: string;
  /** Replaces the parts of the reply that depend on the machine. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads replies of every shape.
  stable?: (reply: any) => unknown;
  /** Record no approval by a policy: the request changes nothing, or always requires an approval. */
  withoutApproval?: boolean;
}

export interface OperatorRecorder {
  /** An installation with a production platform. */
  service: Service;
  client: ReturnType<typeof operatorClient>;
  /** The secret of a second operator, who decides about the changes of the first. */
  approver(): Promise<string>;
  /** Sends a request and records it, with its reply, as the example `name` of the operation. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads replies of every shape.
  record(operationId: string, name: string, request: OperatorRequest): Promise<any>;
  /** Sends a request that is rejected with this code, and records the error. */
  recordError(
    code: Code,
    operationId: string,
    request: Omit<OperatorRequest, 'summary'>,
  ): Promise<void>;
  /** Records an example that cannot be recorded with a request, such as a stream. */
  add(exchange: Exchange): void;
}

export type OperatorScenario = (recorder: OperatorRecorder) => Promise<void>;

function contractOf(operationId: string): Contract {
  const operation = OPERATOR_OPERATIONS.find(
    ({ contract }) => contract.operationId === operationId,
  );
  if (!operation) throw new Error(`unknown operation ${operationId}`);
  return operation.contract;
}

async function recordScenarios(service: Service, scenarios: readonly OperatorScenario[]) {
  const { app } = service;
  const { secretOf, recordsOf, call } = operatorClient(app);
  const exchanges: Exchange[] = [];
  const { addError, recordedErrors } = errorList();
  const operatorSecret = () => secretOf({ name: 'Back office' });
  const approver = () => secretOf({ name: 'Second operator' });
  const client: OperatorRecorder['client'] = {
    secretOf,
    recordsOf,
    call: async (method, url, options = {}) =>
      call(method, url, { secret: await operatorSecret(), ...options }),
  };

  async function send(contract: Contract, request: OperatorRequest): Promise<ApiResponse> {
    const { person, body, headers = {} } = request;
    const url = urlOf(contract, request);
    if (person) return person.call(contract.method, url, { body, headers });
    const secret =
      contract.auth === 'operator' ? (request.secret ?? (await operatorSecret())) : null;
    return client.call(contract.method, url, { body, headers, secret });
  }

  /** Records the reply while a policy requires an approval. The change is then rejected. */
  async function recordApproval(contract: Contract, request: OperatorRequest): Promise<void> {
    const { operationId } = contract;
    const { id } = await createPolicy(app.runtime, FIRST_OPERATOR, { operationId, hours: 24 });
    const reply = await send(contract, request);
    await removePolicy(app.runtime, id);
    expect([operationId, reply.status, reply.body]).toEqual([operationId, 202, reply.body]);
    const { body: _, ...description } = {
      ...request,
      summary: 'A change that requires an approval',
    };
    exchanges.push(exchangeOf(contract, 'approval-required', description, reply));
    const rejection = { body: { reason: 'Requested twice' }, secret: await approver() };
    ok(await client.call('POST', `/approvals/${reply.body.id}/reject`, rejection), 200);
  }

  const recorder: OperatorRecorder = {
    service,
    client,
    approver,
    async record(operationId, name, request) {
      const contract = contractOf(operationId);
      const hasApproval = exchanges.some(
        (each) => each.operationId === operationId && each.status === 202,
      );
      if (202 in contract.replies && !hasApproval && !request.withoutApproval)
        await recordApproval(contract, request);
      const reply = await send(contract, request);
      const body = request.stable?.(reply.body) ?? reply.body;
      const exchange = exchangeOf(contract, name, request, { ...reply, body });
      const schema = contract.replies[exchange.status];
      expect(schema && fieldErrors(schema, body, 'body'), operationId).toEqual([]);
      exchanges.push(exchange);
      // The call fails if an earlier reply did not match its contract.
      ok(await app.call('GET', '/config'), 200);
      return reply.body;
    },
    recordError: async (code, operationId, request) =>
      addError(code, await send(contractOf(operationId), { summary: code, ...request })),
    add: (exchange) => void exchanges.push(exchange),
  };
  for (const scenario of scenarios) await scenario(recorder);
  const errors = recordedErrors();
  return { exchanges, webhooks: [], ...(errors.length ? { errors } : {}) };
}

/** Names of test platforms, and addresses of the machine. */
const REPLACEMENTS: TextReplacements = [
  // Addresses of callers, but not those in URLs.
  [/(?<!\/)127\.0\.0\.1/g, '203.0.113.7'],
  [/"name": "Main"/g, '"name": "Northwind"'],
  [/"name": "Other"/g, '"name": "Eastfield"'],
  [/\bcode for Main\b/g, 'code for Northwind'],
];

interface ExampleOptions {
  /** A function if the options depend on a resource that an earlier hook opens. */
  options?: AppOptions | (() => AppOptions);
  replacements?: TextReplacements;
}

/** Tests that the scenarios produce `server/examples/operator/NAME.json`. `-u` writes the file. */
export function operatorExamples(
  name: string,
  scenarios: Record<string, OperatorScenario>,
  { replacements = [], options = {} }: ExampleOptions = {},
) {
  const services = ['one', 'two'].map((seed) =>
    openForFile(() => {
      const appOptions = typeof options === 'function' ? options() : options;
      return startProduction({ ...appOptions, seed: `operator examples ${name} ${seed}` });
    }),
  );
  it(`equal server/examples/operator/${name}.json`, async () => {
    const [firstRun, secondRun] = await Promise.all(
      services.map((service) => recordScenarios(service, Object.values(scenarios))),
    );
    const text = stableText(firstRun, secondRun, [...REPLACEMENTS, ...replacements]);
    const file = path.join(EXAMPLES_FOLDER, 'operator', `${name}.json`);
    await expect(text).toMatchFileSnapshot(file);
  }, 120_000);
}
