// A platform that approves payments from UMA addresses. Its webhook receiver has scripted responses
// to approval requests and accepts all other events.

import { createCustomer, findInternalAccount, ok } from '../app/fixtures.ts';
import type { ApiResponse, TestApp, TestPlatform } from '../app/harness.ts';
import { startApp } from '../app/harness.ts';
import { type Received, startReceiver } from '../http/webhook-receiver.ts';

export const PENDING = 'INCOMING_PAYMENT.PENDING';
export const FAILED = 'INCOMING_PAYMENT.FAILED';
export const COMPLETED = 'INCOMING_PAYMENT.COMPLETED';
export const REFUND_EVENTS = [
  'INCOMING_PAYMENT.REFUND_PENDING',
  'INCOMING_PAYMENT.REFUND_COMPLETED',
];
export const SENDER = '$success.usd@sandbox.uma.money';

interface Script {
  status: number;
  body?: string;
  neverResponds?: boolean;
  /** Runs before the response. */
  beforeResponse?: (receivedWebhook: Received) => Promise<unknown>;
}

export async function openUmaFixture() {
  const app: TestApp = await startApp();
  let script: Script = { status: 200 };
  let receivedRequests: Received[] = [];
  const receiver = await startReceiver((response, receivedWebhook) => {
    if (receivedWebhook.type !== PENDING) return void response.writeHead(200).end();
    receivedRequests.push(receivedWebhook);
    const { status, body = '', neverResponds, beforeResponse } = script;
    if (neverResponds) return;
    void Promise.resolve(beforeResponse?.(receivedWebhook)).then(() =>
      response.writeHead(status).end(body),
    );
  });

  async function listen(platform: TestPlatform = app.platform): Promise<void> {
    ok(await app.call('PATCH', '/config', { webhookEndpoint: receiver.url }, { platform }), 200);
  }

  const receive = (body: object, platform: TestPlatform = app.platform): Promise<ApiResponse> => {
    const defaults = {
      senderUmaAddress: SENDER,
      receivingCurrencyCode: 'USD',
      receivingCurrencyAmount: 250_00,
    };
    return app.call('POST', '/sandbox/uma/receive', { ...defaults, ...body }, { platform });
  };

  /** A customer with an account, and a pending payment to it. */
  async function createPendingPayment(overrides: object = {}) {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    const payment = ok(await receive({ customerId: person.id, ...overrides }), 200);
    return { person, account, payment };
  }

  await listen();
  return {
    app,
    listen,
    receive,
    createPendingPayment,
    /** Sets the response to the following requests and clears the recorded requests. */
    respond(next: Script): void {
      script = next;
      receivedRequests = [];
    },
    requests: (): readonly Received[] => receivedRequests,
    read: async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200),
    act: (id: string, action: 'approve' | 'reject', body?: object, platform = app.platform) =>
      app.call('POST', `/transactions/${id}/${action}`, body, { platform }),
    async close(): Promise<void> {
      await app.close();
      await receiver.close();
    },
  };
}
