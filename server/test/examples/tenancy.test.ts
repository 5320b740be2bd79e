// Examples of the platform itself: its configuration, API tokens and test webhooks.
import { describe, expect, vi } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';

async function recordConfiguration(recorder: ExampleRecorder) {
  await recorder.record('getPlatformConfig', 'current', {
    summary: 'The configuration of the platform',
  });
  await recorder.record('updatePlatformConfig', 'fees', {
    summary: 'Charge 0.50 USD plus 1 % on each conversion from USD',
    body: {
      feeConfigs: [
        {
          feeType: 'CROSS_CURRENCY_TRANSACTION',
          sourceCurrency: 'USD',
          variableFeeBps: 100,
          fixedFee: { amount: 50, currency: 'USD' },
        },
      ],
    },
  });
}

async function recordTestWebhooks(recorder: ExampleRecorder) {
  await recorder.record('sendTestWebhook', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
  await recorder.record('sendTestEvent', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
}

async function recordWebhookEndpoints(recorder: ExampleRecorder) {
  const { id: endpointId } = await recorder.record('createWebhookEndpoint', 'payments', {
    summary: 'An endpoint that receives completed and failed payments',
    body: {
      url: 'https://ledger.example.com/hook',
      description: 'Ledger',
      eventTypes: ['OUTGOING_PAYMENT.COMPLETED', 'OUTGOING_PAYMENT.FAILED'],
    },
  });
  const params = { endpointId };
  await recorder.record('rotateWebhookEndpointKey', 'two-days', {
    summary: 'A new key. The earlier key signs for two more days',
    params,
    body: { overlapHours: 48 },
  });
  await recorder.record('listWebhookEndpoints', 'all', { summary: 'All endpoints' });
  await recorder.record('getWebhookEndpointById', 'one', { summary: 'One endpoint', params });
  await recorder.record('updateWebhookEndpoint', 'paused', {
    summary: 'Pause an endpoint. Its events are queued',
    params,
    body: { status: 'PAUSED', statusReason: 'Maintenance' },
  });
  await recorder.record('deleteWebhookEndpointById', 'deleted', {
    summary: 'Delete an endpoint',
    params,
  });
}

async function recordWebhookDeliveries(recorder: ExampleRecorder) {
  await recorder.app.settle();
  const { data } = await recorder.record('listWebhookDeliveries', 'delivered', {
    summary: 'The latest delivery of a test event',
    query: { eventType: 'TEST', limit: '1' },
  });
  const [{ id: deliveryId, eventId, endpointId }] = data;
  const params = { deliveryId };
  await recorder.record('getWebhookDeliveryById', 'one', {
    summary: 'One delivery with its attempts',
    params,
  });
  await recorder.record('resendWebhookDelivery', 'again', {
    summary: 'Send the event to the endpoint again',
    params,
  });
  await recorder.record('resendEvent', 'one-endpoint', {
    summary: 'Send an event to one endpoint again',
    params: { eventId },
    body: { endpointId },
  });
  await recordWebhookReplays(recorder, endpointId);
}

async function recordWebhookReplays(recorder: ExampleRecorder, endpointId: string) {
  const body = { endpointId, from: '2026-01-05T08:00:00Z', to: '2026-01-05T09:00:00Z' };
  await recorder.record('previewWebhookReplay', 'hour', {
    summary: 'Number of failed deliveries of one hour',
    body,
  });
  const { id: replayId } = await recorder.record('createWebhookReplay', 'hour', {
    summary: 'Send the failed deliveries of one hour again',
    body,
  });
  await recorder.app.settle();
  await recorder.record('getWebhookReplayById', 'completed', {
    summary: 'A completed replay',
    params: { replayId },
  });
  await recorder.record('listWebhookReplays', 'endpoint', {
    summary: 'Replays to one endpoint',
    query: { endpointId },
  });
}

const WAIT = { timeout: 15_000, interval: 50 };

async function recordPulledDeliveries(recorder: ExampleRecorder) {
  const { id: endpointId } = await recorder.record('createWebhookEndpoint', 'pulled', {
    summary: 'An endpoint without a URL, whose deliveries are pulled',
    body: { delivery: 'PULL', description: 'Behind the firewall' },
  });
  await recorder.app.call('POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: 'customer-1002',
    region: 'US',
    fullName: 'Kwame Mensah',
  });
  // The delivery is visible as soon as no earlier transaction of any test is open.
  await vi.waitFor(async () => {
    const path = `/webhook-endpoints/${endpointId}/deliveries?limit=1`;
    expect((await recorder.app.call('GET', path)).body.data).toHaveLength(1);
  }, WAIT);
  const params = { endpointId };
  const { cursor } = await recorder.record('pullWebhookDeliveries', 'oldest', {
    summary: 'The oldest deliveries that are not acknowledged',
    params,
    query: { limit: '1' },
  });
  await recorder.record('acknowledgeWebhookDeliveries', 'up-to-a-position', {
    summary: 'Acknowledge all deliveries up to a position',
    params,
    body: { cursor },
  });
}

/** An endpoint that is paused after five days of failures. */
async function recordFailingEndpoint({ app }: ExampleRecorder) {
  const body = { url: 'http://127.0.0.1:9/hook', description: 'Ledger' };
  await app.call('POST', '/webhook-endpoints', body);
  await app.call('POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: 'customer-1001',
    region: 'US',
    fullName: 'Amara Okafor',
  });
  await app.settle();
  await app.advance(5 * 86_400_000 + 3_600_000);
}

async function recordTokens(recorder: ExampleRecorder) {
  const { id: tokenId } = await recorder.record('createToken', 'read-only', {
    summary: 'A read-only token',
    body: { name: 'Reporting', permissions: ['VIEW'] },
  });
  await recorder.record('listTokens', 'all', {
    summary: 'All tokens of the platform',
    query: { limit: '2' },
  });
  await recorder.record('getTokenById', 'one', { summary: 'One token', params: { tokenId } });
  await recorder.record('deleteTokenById', 'revoked', {
    summary: 'Revoke a token. It stops working immediately',
    params: { tokenId },
  });
}

async function recordFixtures(recorder: ExampleRecorder) {
  await recorder.record('createSandboxFixtures', 'steps', {
    summary: 'A customer with 500.00 USD',
    body: {
      seed: 'checkout tests',
      steps: [
        {
          name: 'ada',
          operationId: 'createCustomer',
          body: { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
        },
        {
          name: 'usd',
          operationId: 'listCustomerInternalAccounts',
          query: { customerId: '$ada.id', currency: 'USD' },
        },
        {
          operationId: 'sandboxFundInternalAccount',
          params: { accountId: '$usd.data.0.id' },
          body: { amount: 500_00 },
        },
      ],
    },
  });
  await recorder.record('createSandboxFixtures', 'cards', {
    summary: 'Built-in resources: cards in each state',
    body: { world: 'cards' },
  });
  const owner = ok(
    await recorder.app.call('POST', '/customers', {
      customerType: 'INDIVIDUAL',
      fullName: 'Ada Lovelace',
    }),
    201,
  );
  const path = `/customers/internal-accounts?customerId=${owner.id}&currency=USD`;
  const accounts = ok(await recorder.app.call('GET', path), 200);
  await recorder.record('setSandboxStatus', 'frozen', {
    summary: 'Freeze an account, as the operator does',
    body: { resourceId: accounts.data[0].id, status: 'FROZEN', reason: 'Requested by the bank' },
  });
  await recorder.record('resetSandbox', 'data', { summary: 'Remove all data' });
  await recorder.record('resetSandbox', 'everything', {
    summary: 'Reset the configuration and the tokens as well',
    body: { including: ['CONFIGURATION', 'TOKENS'] },
  });
}

async function recordRequests(recorder: ExampleRecorder) {
  const operationId = 'createToken';
  const { data } = await recorder.record('listRequests', 'by-operation', {
    summary: 'Requests that created tokens, newest first',
    query: { operationId, limit: '1' },
  });
  await recorder.record('getRequestById', 'one', {
    summary: 'A request by the X-Request-Id of its reply',
    params: { requestId: data[0].id },
  });
}

async function recordClock(recorder: ExampleRecorder) {
  await recorder.record('getSandboxClock', 'real-time', {
    summary: 'A clock that was never changed',
  });
  await recorder.record('updateSandboxClock', 'two-days', {
    summary: 'Advance the clock two days. All work that is due by then is executed first',
    body: { advance: 'P2D' },
  });
  await recorder.record('updateSandboxClock', 'frozen', {
    summary: 'Stop the clock at an instant',
    body: { to: '2026-03-01T09:00:00Z', freeze: true },
  });
}

describe('examples of the platform', () => {
  const endpoints = {
    recordWebhookDeliveries,
    recordWebhookEndpoints,
    recordPulledDeliveries,
    recordFailingEndpoint,
  };
  const sandbox = { recordFixtures, recordClock };
  const scenarios = {
    recordConfiguration,
    recordTestWebhooks,
    ...endpoints,
    recordTokens,
    recordRequests,
    ...sandbox,
  };
  // Addresses of callers, but not those in URLs.
  examples('tenancy', scenarios, { replacements: [[/(?<!\/)127\.0\.0\.1/g, '203.0.113.7']] });
});
