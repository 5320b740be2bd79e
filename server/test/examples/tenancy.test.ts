// Examples of the platform itself: its configuration, API tokens and test webhooks.
import { describe, expect, vi } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { examples, type Stage } from '../kit/http/examples.ts';

async function configuration(stage: Stage) {
  await stage.show('getPlatformConfig', 'current', {
    summary: 'The configuration of the platform',
  });
  await stage.show('updatePlatformConfig', 'fees', {
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

async function testWebhooks(stage: Stage) {
  await stage.show('sendTestWebhook', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
  await stage.show('sendTestEvent', 'delivered', {
    summary: 'The endpoint accepted the test event',
    body: {},
  });
}

async function webhookEndpoints(stage: Stage) {
  const { id: endpointId } = await stage.show('createWebhookEndpoint', 'payments', {
    summary: 'An endpoint that gets completed and failed payments',
    body: {
      url: 'https://ledger.example.com/hook',
      description: 'Ledger',
      eventTypes: ['OUTGOING_PAYMENT.COMPLETED', 'OUTGOING_PAYMENT.FAILED'],
    },
  });
  const params = { endpointId };
  await stage.show('rotateWebhookEndpointKey', 'two-days', {
    summary: 'A new key; the earlier one signs for two more days',
    params,
    body: { overlapHours: 48 },
  });
  await stage.show('listWebhookEndpoints', 'all', { summary: 'All endpoints' });
  await stage.show('getWebhookEndpointById', 'one', { summary: 'One endpoint', params });
  await stage.show('updateWebhookEndpoint', 'paused', {
    summary: 'Pause an endpoint; its events wait',
    params,
    body: { status: 'PAUSED', statusReason: 'Maintenance' },
  });
  await stage.show('deleteWebhookEndpointById', 'deleted', {
    summary: 'Delete an endpoint',
    params,
  });
}

async function webhookDeliveries(stage: Stage) {
  await stage.app.settle();
  const { data } = await stage.show('listWebhookDeliveries', 'delivered', {
    summary: 'The latest delivery of a test event',
    query: { eventType: 'TEST', limit: '1' },
  });
  const [{ id: deliveryId, eventId, endpointId }] = data;
  const params = { deliveryId };
  await stage.show('getWebhookDeliveryById', 'one', {
    summary: 'One delivery with its attempts',
    params,
  });
  await stage.show('resendWebhookDelivery', 'again', {
    summary: 'Send the event to the endpoint again',
    params,
  });
  await stage.show('resendEvent', 'one-endpoint', {
    summary: 'Send an event to one endpoint again',
    params: { eventId },
    body: { endpointId },
  });
  await webhookReplays(stage, endpointId);
}

async function webhookReplays(stage: Stage, endpointId: string) {
  const body = { endpointId, from: '2026-01-05T08:00:00Z', to: '2026-01-05T09:00:00Z' };
  await stage.show('previewWebhookReplay', 'hour', {
    summary: 'Number of failed deliveries of one hour',
    body,
  });
  const { id: replayId } = await stage.show('createWebhookReplay', 'hour', {
    summary: 'Send the failed deliveries of one hour again',
    body,
  });
  await stage.app.settle();
  await stage.show('getWebhookReplayById', 'completed', {
    summary: 'A replay that ended',
    params: { replayId },
  });
  await stage.show('listWebhookReplays', 'endpoint', {
    summary: 'Replays to one endpoint',
    query: { endpointId },
  });
}

const WAIT = { timeout: 15_000, interval: 50 };

async function pulledDeliveries(stage: Stage) {
  const { id: endpointId } = await stage.show('createWebhookEndpoint', 'pulled', {
    summary: 'An endpoint without a URL, whose deliveries are pulled',
    body: { delivery: 'PULL', description: 'Behind the firewall' },
  });
  await stage.app.call('POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId: 'customer-1002',
    region: 'US',
    fullName: 'Kwame Mensah',
  });
  // The delivery is visible as soon as no earlier transaction of any test is open.
  await vi.waitFor(async () => {
    const path = `/webhook-endpoints/${endpointId}/deliveries?limit=1`;
    expect((await stage.app.call('GET', path)).body.data).toHaveLength(1);
  }, WAIT);
  const params = { endpointId };
  const { cursor } = await stage.show('pullWebhookDeliveries', 'oldest', {
    summary: 'The oldest deliveries that are not acknowledged',
    params,
    query: { limit: '1' },
  });
  await stage.show('acknowledgeWebhookDeliveries', 'up-to-a-place', {
    summary: 'Acknowledge all deliveries up to a position',
    params,
    body: { cursor },
  });
}

/** An endpoint that is paused after five days of failures. */
async function failingEndpoint({ app }: Stage) {
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

async function tokens(stage: Stage) {
  const { id: tokenId } = await stage.show('createToken', 'read-only', {
    summary: 'A read-only token',
    body: { name: 'Reporting', permissions: ['VIEW'] },
  });
  await stage.show('listTokens', 'all', {
    summary: 'All tokens of the platform',
    query: { limit: '2' },
  });
  await stage.show('getTokenById', 'one', { summary: 'One token', params: { tokenId } });
  await stage.show('deleteTokenById', 'revoked', {
    summary: 'Revoke a token; it stops working at once',
    params: { tokenId },
  });
}

async function fixtures(stage: Stage) {
  await stage.show('createSandboxFixtures', 'steps', {
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
  await stage.show('createSandboxFixtures', 'cards', {
    summary: 'A built-in world: cards in each state',
    body: { world: 'cards' },
  });
  const owner = ok(
    await stage.app.call('POST', '/customers', {
      customerType: 'INDIVIDUAL',
      fullName: 'Ada Lovelace',
    }),
    201,
  );
  const path = `/customers/internal-accounts?customerId=${owner.id}&currency=USD`;
  const accounts = ok(await stage.app.call('GET', path), 200);
  await stage.show('setSandboxStatus', 'frozen', {
    summary: 'Freeze an account, as the operator does',
    body: { resourceId: accounts.data[0].id, status: 'FROZEN', reason: 'Requested by the bank' },
  });
  await stage.show('resetSandbox', 'data', { summary: 'Remove all data' });
  await stage.show('resetSandbox', 'everything', {
    summary: 'Reset the configuration and the tokens as well',
    body: { including: ['CONFIGURATION', 'TOKENS'] },
  });
}

async function requests(stage: Stage) {
  const operationId = 'createToken';
  const { data } = await stage.show('listRequests', 'by-operation', {
    summary: 'Requests that created tokens, newest first',
    query: { operationId, limit: '1' },
  });
  await stage.show('getRequestById', 'one', {
    summary: 'A request by the X-Request-Id of its reply',
    params: { requestId: data[0].id },
  });
}

async function clock(stage: Stage) {
  await stage.show('getSandboxClock', 'real-time', { summary: 'A clock that was never changed' });
  await stage.show('updateSandboxClock', 'two-days', {
    summary: 'Move the clock two days ahead; what is due by then happens first',
    body: { advance: 'P2D' },
  });
  await stage.show('updateSandboxClock', 'frozen', {
    summary: 'Stop the clock at an instant',
    body: { to: '2026-03-01T09:00:00Z', freeze: true },
  });
}

describe('examples of the platform', () => {
  const endpoints = {
    webhookDeliveries,
    webhookEndpoints,
    pulledDeliveries,
    failingEndpoint,
  };
  const sandbox = { fixtures, clock };
  examples('tenancy', { configuration, testWebhooks, ...endpoints, tokens, requests, ...sandbox });
});
