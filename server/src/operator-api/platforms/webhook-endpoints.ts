// Webhook endpoints of a platform: the state of their deliveries, pausing and resuming.
import { Type } from '@sinclair/typebox';
import { endpointsWithHealth, MAX_COUNTED } from '../../features/notifications/deliveries/index.ts';
import {
  platformOfEndpoint,
  setEndpointStatus,
  WebhookEndpoint,
} from '../../features/notifications/endpoints/index.ts';
import { callerOf, platformById } from '../../features/tenancy/platform/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { named, text, time } from '../../kernel/schema.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { assertPlatform, type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason, Reason } from '../schemas.ts';

const TAG = 'Webhooks';
const NOT_FOUND = 'Webhook endpoint not found.';
const platformId = text('Platform of the endpoint.');
const params = Type.Object({ webhookEndpointId: text('ID of the endpoint.') });

const Endpoint = named(
  'OperatorWebhookEndpoint',
  Type.Intersect([Type.Object({ platformId }), WebhookEndpoint], {
    description: 'A webhook endpoint with its platform.',
  }),
);

const EndpointHealth = named(
  'WebhookEndpointHealth',
  Type.Intersect(
    [
      Type.Object({
        platformId,
        pending: Type.Integer({ description: `Pending deliveries, counted up to ${MAX_COUNTED}.` }),
        failed: Type.Integer({
          description: `Failed deliveries of events of the last 24 hours, counted up to ${MAX_COUNTED}.`,
        }),
        oldestPendingAt: Type.Optional(
          time('Time of the oldest pending event. Absent without pending deliveries.'),
        ),
        lastSuccessAt: Type.Optional(
          time('Time of the last successful attempt among the last 200. Absent if none succeeded.'),
        ),
      }),
      WebhookEndpoint,
    ],
    { description: 'A webhook endpoint with its platform and the state of its deliveries.' },
  ),
);

const list = operation({
  operationId: 'listWebhookEndpointsOfPlatform',
  method: 'GET',
  path: '/platforms/{platformId}/webhook-endpoints',
  tag: TAG,
  summary: 'List webhook endpoints of a platform',
  description:
    'Returns the endpoints of a platform, including the endpoint of its configuration, with the ' +
    'state of their deliveries.',
  auth: 'operator',
  operatorPermission: 'webhooks.read',
  commands: [],
  params: Type.Object({ platformId: text('ID of the platform.') }),
  replies: {
    200: Type.Object({ data: Type.Array(EndpointHealth, { description: 'All endpoints.' }) }),
  },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const CHANGE = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'webhooks.manage',
  commands: [],
  params,
  replies: { 200: Endpoint },
  errors: [],
  notFound: 'NOT_FOUND',
} as const;

const pause = operation({
  ...CHANGE,
  operationId: 'pauseWebhookEndpoint',
  path: '/webhook-endpoints/{webhookEndpointId}/pause',
  summary: 'Pause a webhook endpoint',
  description:
    'Stops deliveries to an endpoint. Pending deliveries are sent, or can be pulled, after the ' +
    'endpoint is resumed. Each is retained for at most seven days. The reason is visible to the ' +
    'platform.',
  body: Type.Object({ reason: Reason }),
});

const resume = operation({
  ...CHANGE,
  operationId: 'resumeWebhookEndpoint',
  path: '/webhook-endpoints/{webhookEndpointId}/resume',
  summary: 'Resume a webhook endpoint',
  description:
    'Continues deliveries to a paused endpoint. Pending deliveries are sent, or can be pulled.',
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

async function setStatus(
  { installation: { runtime }, operator }: OperatorCall,
  id: string,
  status: 'ENABLED' | 'PAUSED',
  reason?: string,
) {
  const unknownEndpoint = () => new Fault('NOT_FOUND', NOT_FOUND);
  if (!isId(id, 'WebhookEndpoint')) throw unknownEndpoint();
  const platformId = await platformOfEndpoint(runtime.db, id);
  assertPlatform(operator, platformId, NOT_FOUND);
  await platformById(runtime, platformId).catch(() => {
    throw unknownEndpoint();
  });
  const caller = await callerOf(runtime.db, platformId);
  const view = await operate(runtime, caller, (ctx) => setEndpointStatus(ctx, id, status, reason));
  runtime.wake.events();
  return { status: 200, body: { platformId: platformId, ...view } } as const;
}

export const webhookEndpointOperations = [
  operatorHandle(list, async ({ installation }, { params }) => ({
    status: 200,
    body: { data: await endpointsWithHealth(installation.runtime, params.platformId) },
  })),
  operatorHandle(pause, (call, { params, body }) =>
    setStatus(call, params.webhookEndpointId, 'PAUSED', body.reason),
  ),
  operatorHandle(resume, (call, { params }) =>
    setStatus(call, params.webhookEndpointId, 'ENABLED'),
  ),
];
