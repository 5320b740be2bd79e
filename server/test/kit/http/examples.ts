// Records the examples of the API reference. Each scenario runs on two servers with different
// random bytes, whose random parts are replaced. The result is compared with the file from which
// the reference is generated.
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ErrorExample, Examples, Exchange } from '../../../src/http/examples.ts';
import type { EventType } from '../../../src/kernel/contract/event.ts';
import type { Contract } from '../../../src/kernel/contract/operation.ts';
import { type Code, STATUS_OF } from '../../../src/kernel/fault.ts';
import type { ApiResponse, AppOptions, CallOptions, TestApp } from '../app/harness.ts';
import { openForFile, testApp } from '../app/test-app.ts';
import { stableText, type TextReplacements } from '../examples/values.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

export const EXAMPLES_FOLDER = path.resolve(import.meta.dirname, '../../../examples');

export interface DescribedRequest {
  /** Difference from the other examples of the operation. */
  summary: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string> | undefined;
  body?: unknown;
}

type ExampleRequest = DescribedRequest & CallOptions;

/** Requests of rejected examples are not documented. */
type RejectedRequest = Omit<ExampleRequest, 'summary'>;

export interface ExampleRecorder {
  app: TestApp;
  /**
   * The endpoint that receives the webhooks. The endpoint returns 200 unless a scenario configures
   * another response.
   */
  receiver: Receiver;
  /** Sends a request and records it, with its reply, as the example `name` of the operation. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads replies of every shape.
  record(operationId: string, name: string, request: ExampleRequest): Promise<any>;
  /** Sends a request that is rejected with this code, and records the error. */
  recordError(code: Code, operationId: string, request: RejectedRequest): Promise<void>;
  /** Records the error of a reply, unless the code already has a recorded error. */
  addError(code: Code, reply: Pick<ApiResponse, 'status' | 'body'>): void;
}

export type Scenario = (recorder: ExampleRecorder) => Promise<void>;

function contractOf(app: TestApp, operationId: string): Contract {
  const operation = app.operations.find(({ contract }) => contract.operationId === operationId);
  if (!operation) throw new Error(`unknown operation ${operationId}`);
  return operation.contract;
}

export function urlOf(
  contract: Contract,
  { params = {}, query = {} }: Pick<DescribedRequest, 'params' | 'query'>,
): string {
  const url = contract.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined)
      throw new Error(`${contract.operationId} needs the path parameter ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(query).toString();
  return search ? `${url}?${search}` : url;
}

/** The fields of a form, with the name of each file. */
const fieldsOf = (form: FormData) =>
  Object.fromEntries(
    [...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]),
  );

/** The recorded example of a request and its reply. */
export function exchangeOf(
  { operationId, replies }: Contract,
  name: string,
  { summary, params, query, headers, body }: DescribedRequest,
  { status, body: reply }: Pick<ApiResponse, 'status' | 'body'>,
): Exchange {
  const text = `${operationId} ${name}: ${JSON.stringify(reply)}`;
  expect(Object.keys(replies), text).toContain(String(status));
  // Credentials are not parameters.
  const { authorization: _, ...namedHeaders } = headers ?? {};
  const parameters = { ...params, ...query, ...withDocumentedNames(namedHeaders) };
  return {
    operationId,
    name,
    summary,
    ...(Object.keys(parameters).length ? { parameters } : {}),
    ...(body === undefined ? {} : { request: body instanceof FormData ? fieldsOf(body) : body }),
    status,
    ...(reply === '' ? {} : { reply }),
  };
}

/** Headers with the names of the API document. A scenario may write them in lower case. */
const withDocumentedNames = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
  );

async function sendRequest(app: TestApp, contract: Contract, request: RejectedRequest) {
  const { headers, body, platform } = request;
  const options = platform === undefined ? { headers } : { platform, headers };
  return app.call(contract.method, urlOf(contract, request), body, options);
}

async function sendExample(
  app: TestApp,
  operationId: string,
  name: string,
  request: ExampleRequest,
) {
  const contract = contractOf(app, operationId);
  return exchangeOf(contract, name, request, await sendRequest(app, contract, request));
}

/** Records one error for each code. */
export function errorList() {
  const errors = new Map<Code, ErrorExample>();
  const addError: ExampleRecorder['addError'] = (code, { status, body }) => {
    expect([status, body.code, body.reason]).toEqual([STATUS_OF[code], code, expect.any(String)]);
    if (!errors.has(code)) errors.set(code, { code, body });
  };
  const codes = Object.keys(STATUS_OF) as Code[];
  return { addError, recordedErrors: () => codes.flatMap((code) => errors.get(code) ?? []) };
}

/**
 * The first webhook of each type, in the order of events, which may differ from the order of
 * arrival.
 */
function firstWebhookOfEachType(bodies: readonly string[]): Examples['webhooks'] {
  const webhooks = new Map<string, unknown>();
  const parsedEvents = bodies.map((text) => JSON.parse(text) as { id: string; type: string });
  for (const body of parsedEvents.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (!webhooks.has(body.type)) webhooks.set(body.type, body);
  }
  return [...webhooks.keys()].sort().map((type) => ({ type, body: webhooks.get(type) }));
}

/** The webhooks of these types only, which must all have arrived. */
function selectWebhooks(webhooks: Examples['webhooks'], types: readonly EventType[]) {
  const selectedWebhooks = webhooks.filter(({ type }) => types.some((each) => each === type));
  expect(selectedWebhooks.map(({ type }) => type)).toEqual(types.toSorted());
  return selectedWebhooks;
}

async function recordScenarios(
  app: TestApp,
  receiver: Receiver,
  scenarios: readonly Scenario[],
  webhookTypes?: readonly EventType[],
) {
  const exchanges: Exchange[] = [];
  const { recordedErrors, addError } = errorList();
  await app.call('PATCH', '/config', { webhookEndpoint: receiver.url });
  for (const scenario of scenarios) {
    await scenario({
      app,
      receiver,
      addError,
      recordError: async (code, operationId, request) =>
        addError(code, await sendRequest(app, contractOf(app, operationId), request)),
      async record(operationId, name, request) {
        const exchange = await sendExample(app, operationId, name, request);
        exchanges.push(exchange);
        return exchange.reply;
      },
    });
  }
  await app.settle();
  const webhooks = firstWebhookOfEachType(receiver.arrivals.map(({ body }) => body));
  const errors = recordedErrors();
  return {
    exchanges,
    webhooks: webhookTypes ? selectWebhooks(webhooks, webhookTypes) : webhooks,
    ...(errors.length ? { errors } : {}),
  };
}

/** Both runs together, on a machine with other work. */
const TIMEOUT_MS = 120_000;

interface ExampleOptions extends AppOptions {
  /** Types of the webhooks in the file. By default all types that arrive. */
  webhookTypes?: readonly EventType[];
  replacements?: TextReplacements;
}

/** Tests that the scenarios produce `server/examples/NAME.json`. `-u` writes the file. */
export function examples(
  name: string,
  scenarios: Record<string, Scenario>,
  { webhookTypes, replacements, ...options }: ExampleOptions = {},
) {
  const servers = ['one', 'two'].map((seed) => ({
    app: testApp({ ...options, seed: `examples ${name} ${seed}` }),
    receiver: openForFile(() => startReceiver()),
  }));
  it(
    `equal server/examples/${name}.json`,
    async () => {
      const [firstRun, secondRun] = await Promise.all(
        servers.map(({ app, receiver }) =>
          recordScenarios(app, receiver, Object.values(scenarios), webhookTypes),
        ),
      );
      await expect(stableText(firstRun, secondRun, replacements)).toMatchFileSnapshot(
        path.join(EXAMPLES_FOLDER, `${name}.json`),
      );
    },
    TIMEOUT_MS,
  );
}
