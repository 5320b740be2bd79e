// Contracts of the two operations that test a webhook endpoint, and of the test event.
import { Type } from '@sinclair/typebox';
import type { WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { named } from '../../../kernel/schema.ts';
import { testEvent } from '../../tenancy/config/index.ts';

const TestWebhookRequest = Type.Object({
  url: Type.Optional(
    Type.String({
      description:
        'URL to send the test to, on the scheme and host of the configured endpoint. Any ' +
        'other URL is ignored and the configured endpoint is used. Defaults to the ' +
        'configured endpoint.',
    }),
  ),
});

const TestWebhookResponse = named(
  'TestWebhookResponse',
  Type.Object(
    {
      url: Type.Optional(
        Type.String({ format: 'uri', description: 'URL that the test event was sent to.' }),
      ),
      response_status: Type.Integer({
        description: 'HTTP status code that the endpoint returned.',
      }),
      response_body: Type.Optional(
        Type.String({
          description: 'Start of the response body, at most 1 KB, with secrets masked.',
        }),
      ),
    },
    { description: 'Response of the webhook endpoint to a test event.' },
  ),
);

const sharedContract = {
  method: 'POST',
  summary: 'Send a test webhook',
  description:
    'Sends one event of type TEST to the configured webhook endpoint, with the usual ' +
    'signature, and returns the response of the endpoint. Use the test to check connectivity ' +
    'and signature verification. The event is sent once and is not retried. The request ' +
    'succeeds with any HTTP status of the response. The request fails if the endpoint does not ' +
    'respond within 30 seconds. Configure the endpoint with `updatePlatformConfig` first.',
  permission: 'MANAGE',
  body: TestWebhookRequest,
  bodyOptional: true,
  replies: { 200: TestWebhookResponse },
  callsExternal: true,
} as const;

export const sendTestEvent = operation({
  ...sharedContract,
  operationId: 'sendTestEvent',
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_DELIVERY_ERROR'],
  path: '/webhooks/test',
  tag: 'Webhooks',
});

export const sendTestWebhook = operation({
  ...sharedContract,
  operationId: 'sendTestWebhook',
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_DELIVERY_ERROR'],
  path: '/sandbox/webhooks/test',
  tag: 'Sandbox',
});

export const testWebhooks: readonly WebhookContract[] = [
  {
    name: 'test-webhook',
    summary: 'Test webhook',
    description:
      'Sent on request (`sendTestEvent`), and once when the webhook endpoint is set or ' +
      'changed. The payload additionally contains `test: true`. The event is not retried.',
    events: [testEvent],
  },
];
