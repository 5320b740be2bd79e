// The two doors to one test of a webhook endpoint, and the test event itself as the document shows it.
import { Type } from '@sinclair/typebox';
import type { WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { named } from '../../../kernel/schema.ts';
import { testEvent } from '../../tenancy/config/index.ts';

const TestWebhookRequest = Type.Object({
  url: Type.Optional(
    Type.String({
      description:
        'Another address on the host of the configured endpoint to send the test to. An address ' +
        'elsewhere is ignored.',
    }),
  ),
});

const TestWebhookResponse = named(
  'TestWebhookResponse',
  Type.Object(
    {
      url: Type.Optional(
        Type.String({ format: 'uri', description: 'The address that the test was sent to.' }),
      ),
      response_status: Type.Integer({ description: 'HTTP status that the receiver answered.' }),
      response_body: Type.Optional(
        Type.String({ description: 'The start of the answer, at most 1 KB.' }),
      ),
    },
    { description: 'How the receiver answered a test event.' },
  ),
);

const shared = {
  method: 'POST',
  summary: 'Send a test event',
  description:
    'Sends one event of type TEST to the configured endpoint, signed like any other, and answers ' +
    'with what the receiver said. It is sent once and never again. An answer of any status counts ' +
    'as reached; an endpoint that cannot be reached within 30 seconds is WEBHOOK_DELIVERY_ERROR.',
  permission: 'MANAGE',
  body: TestWebhookRequest,
  bodyOptional: true,
  replies: { 200: TestWebhookResponse },
  callsExternal: true,
} as const;

export const sendTestEvent = operation({
  ...shared,
  operationId: 'sendTestEvent',
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_DELIVERY_ERROR'],
  path: '/webhooks/test',
  tag: 'Webhooks',
});

export const sendTestWebhook = operation({
  ...shared,
  operationId: 'sendTestWebhook',
  errors: ['WEBHOOK_ENDPOINT_NOT_SET', 'WEBHOOK_DELIVERY_ERROR'],
  path: '/sandbox/webhooks/test',
  tag: 'Sandbox',
});

export const testWebhooks: readonly WebhookContract[] = [
  {
    name: 'test-webhook',
    summary: 'A test',
    description:
      'Sent when a test is asked for, and once when the endpoint is set or changed. Beside the usual ' +
      'fields it carries `test: true`. It is never sent again when it fails.',
    events: [testEvent],
  },
];
