// Replaces the recorder of the examples (server/test/kit/http/examples.ts): each request of a scenario
// is an SDK call to a listening server. The scenarios therefore test every operation of the SDK.
import { describe, expect, it } from 'vitest';
import type { AppOptions, CallOptions } from '../../../../server/test/kit/app/harness.ts';
import { openForFile, testApp } from '../../../../server/test/kit/app/test-app.ts';
import { type Receiver, startReceiver } from '../../../../server/test/kit/http/webhook-receiver.ts';
import type { Client } from '../../src/index.ts';
import { clientOf, functionOf } from './clients.ts';

type App = ReturnType<typeof testApp>;

interface ExampleRequest extends CallOptions {
  summary: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

export interface ExampleRecorder {
  app: App;
  receiver: Receiver;
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads replies of every shape.
  record(operationId: string, name: string, request: ExampleRequest): Promise<any>;
}

export type Scenario = (recorder: ExampleRecorder) => Promise<void>;

/** Call options from the headers of a request. */
function optionsOf(headers: Record<string, string> = {}) {
  const {
    authorization: _,
    'idempotency-key': idempotencyKey,
    'service-wallet-signature': walletSignature,
    'request-id': requestId,
    ...otherHeaders
  } = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { idempotencyKey, walletSignature, requestId, headers: otherHeaders };
}

async function clientFor(app: App, { platform, headers }: ExampleRequest): Promise<Client> {
  const agentToken = /^Bearer (.+)$/.exec(headers?.authorization ?? '')?.[1];
  if (agentToken) return clientOf(app, { agentToken }, null);
  return clientOf(app, {}, platform === undefined ? app.platform : platform);
}

async function perform(app: App, operationId: string, name: string, request: ExampleRequest) {
  const { params, query, headers, body } = request;
  const fields = body instanceof FormData ? Object.fromEntries(body) : body;
  const call = functionOf(await clientFor(app, request), operationId);
  const reply = await call({ ...params, ...query, ...(fields as object) }, optionsOf(headers))
    .withResponse()
    .catch((error: unknown) => {
      throw new Error(`${operationId} ${name}: ${String(error)}`, { cause: error });
    });
  expect(reply.requestId, operationId).toMatch(/\w/);
  return reply.data ?? '';
}

export function examples(
  name: string,
  scenarios: Record<string, Scenario>,
  options: AppOptions = {},
) {
  describe(`the SDK performs the scenarios of ${name}`, () => {
    const app = testApp(options);
    const receiver = openForFile(() => startReceiver());
    it.each(Object.entries(scenarios))('%s', async (_, scenario) => {
      await app.call('PATCH', '/config', { webhookEndpoint: receiver.url });
      await scenario({
        app,
        receiver,
        record: (operationId, example, request) => perform(app, operationId, example, request),
      });
      await app.settle();
    });
  });
}
