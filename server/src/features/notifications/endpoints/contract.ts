// Contracts of webhook endpoints, and the event about an endpoint that was paused.
import { Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract, WebhookType } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  NO_QUERY,
  named,
  nullable,
  oneOf,
  text,
  time,
  withDescription,
} from '../../../kernel/schema.ts';
import { MAX_ENDPOINTS } from './store.ts';

const TAG = 'Webhook Endpoints';
export const DEFAULT_OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 168;

const Status = named(
  'WebhookEndpointStatus',
  oneOf(['ENABLED', 'PAUSED'], {
    description:
      'ENABLED: deliveries are sent, or can be pulled. PAUSED: new deliveries are retained for ' +
      'seven days at most. They are sent, or can be pulled, when the endpoint is enabled again.',
  }),
);

const Delivery = named(
  'WebhookEndpointDelivery',
  oneOf(['PUSH', 'PULL'], {
    description:
      'PUSH: deliveries are sent to the URL. PULL: deliveries are read with ' +
      '`pullWebhookDeliveries`. Each is retained until it is acknowledged, or for seven days.',
  }),
);

const Format = named(
  'WebhookEndpointFormat',
  oneOf(['FULL', 'THIN'], {
    description:
      'FULL: `data` contains the resource in its state at the time of the event. THIN: `data` ' +
      'contains the `id` of the resource only, so no personal data is sent. `getEventById` ' +
      'returns the resource.',
  }),
);

const Key = named(
  'WebhookEndpointKey',
  Type.Object(
    {
      id: text('ID of the key.'),
      createdAt: time('Real time at which the key was created.'),
      expiresAt: Type.Optional(
        time(
          'Real time after which the key no longer signs, even on a sandbox platform with its ' +
            'own clock. Absent for the current key.',
        ),
      ),
    },
    { description: 'A signing key of a webhook endpoint, without its secret.' },
  ),
);

const secret = (condition: string) =>
  text(
    'Signing secret for verification with Standard Webhooks, `whsec_` and base64. Returned ' +
      `${condition}. Absent in all other replies.`,
  );

const PROPERTIES = {
  id: text('ID of the endpoint.'),
  url: Type.Optional(
    text('URL that deliveries are sent to. Absent if they are pulled.', { format: 'uri' }),
  ),
  delivery: Delivery,
  description: Type.Optional(text('Display name. Absent if none is set.')),
  eventTypes: Type.Array(WebhookType, {
    description: 'Types of the events that the endpoint receives. Empty for all types.',
  }),
  format: Format,
  status: Status,
  statusReason: Type.Optional(
    text('Reason for the pause. Absent if the endpoint is enabled or was paused without a reason.'),
  ),
  statusChangedAt: time('Time of the last change of the status.'),
  failingSince: Type.Optional(
    time(
      'Time of the first failed attempt since the last success or since the endpoint was enabled. ' +
        'The endpoint is paused after five days without a success. Absent if no attempt has ' +
        'failed since then, and for the endpoint of the platform configuration.',
    ),
  ),
  standardWebhooks: Type.Boolean({
    description:
      "Whether deliveries contain the headers of Standard Webhooks. The service's own signature " +
      'header is always present.',
  }),
  isConfigured: Type.Boolean({
    description:
      'Whether this is the endpoint of the platform configuration. The URL of this endpoint is ' +
      'set with `updatePlatformConfig`. Its deliveries are signed with the keys of the ' +
      'service. The service never pauses it automatically.',
  }),
  keys: Type.Array(Key, {
    description:
      'Signing keys of the endpoint that are valid, the newest first. Empty for the endpoint ' +
      'of the platform configuration.',
  }),
  createdAt: time('Time at which the endpoint was created.'),
  updatedAt: time('Time of the last change.'),
};

export const WebhookEndpoint = named(
  'WebhookEndpoint',
  Type.Object(PROPERTIES, { description: 'A receiver of events.' }),
);

const WebhookEndpointWithSecret = named(
  'WebhookEndpointWithSecret',
  Type.Object(
    {
      ...PROPERTIES,
      secret: Type.Optional(
        secret('only when the endpoint is created and when its key is rotated'),
      ),
    },
    { description: 'A receiver of events, with the secret of its new key.' },
  ),
);

const settings = {
  description: text('Display name, at most 255 characters.', { minLength: 1, maxLength: 255 }),
  eventTypes: Type.Array(WebhookType, {
    maxItems: 100,
    description: 'Types of the events that the endpoint receives. Empty for all types.',
  }),
  standardWebhooks: Type.Boolean({
    description: 'Whether deliveries contain the headers of Standard Webhooks.',
  }),
  format: withDescription(
    Format,
    'Content of the body of deliveries. Webhooks that request a decision, such as the approval ' +
      'of an incoming payment, are always FULL.',
  ),
};

const URL_RULES =
  'The scheme is https and the host is public. For production platforms the port is 443, or ' +
  '1024 or higher. Sandbox platforms can also use a URL on the machine of the server if the ' +
  'operator allows it.';

const CreateRequest = named(
  'WebhookEndpointCreateRequest',
  Type.Object(
    {
      delivery: Type.Optional(
        withDescription(
          Delivery,
          'Delivery method of the endpoint. The method cannot be changed later. Defaults to PUSH.',
        ),
      ),
      url: Type.Optional(
        text(`URL that deliveries are sent to. Required for PUSH, absent for PULL. ${URL_RULES}`),
      ),
      description: Type.Optional(settings.description),
      eventTypes: Type.Optional(settings.eventTypes),
      standardWebhooks: Type.Optional({
        ...settings.standardWebhooks,
        description:
          'Whether deliveries contain the headers of Standard Webhooks. Defaults to true.',
      }),
      format: Type.Optional(
        withDescription(Format, 'Content of the body of deliveries. Defaults to FULL.'),
      ),
    },
    { additionalProperties: false, description: 'The endpoint to create.' },
  ),
);

const UpdateRequest = named(
  'WebhookEndpointUpdateRequest',
  Type.Object(
    {
      url: Type.Optional(
        text(`URL that deliveries are sent to. Rejected if deliveries are pulled. ${URL_RULES}`),
      ),
      description: Type.Optional(
        nullable(
          withDescription(
            settings.description,
            'Display name, at most 255 characters. Null removes the name.',
          ),
        ),
      ),
      eventTypes: Type.Optional(settings.eventTypes),
      standardWebhooks: Type.Optional(settings.standardWebhooks),
      format: Type.Optional(settings.format),
      status: Type.Optional(Status),
      statusReason: Type.Optional(
        text('Reason for the pause, at most 255 characters. Ignored unless `status` is PAUSED.', {
          maxLength: 255,
        }),
      ),
    },
    {
      additionalProperties: false,
      description: 'Changes of an endpoint. Absent fields are unchanged.',
    },
  ),
);

const params = Type.Object({ endpointId: text('ID of the endpoint.') });
export const listWebhookEndpoints = operation({
  operationId: 'listWebhookEndpoints',
  method: 'GET',
  path: '/webhook-endpoints',
  tag: TAG,
  summary: 'List webhook endpoints',
  description:
    'Returns all endpoints of the platform in the order of their creation, starting with the ' +
    'endpoint of the platform configuration.',
  permission: 'VIEW',
  query: NO_QUERY,
  replies: {
    200: named(
      'WebhookEndpointListResponse',
      Type.Object(
        { data: Type.Array(WebhookEndpoint, { description: 'Endpoints of the platform.' }) },
        { description: 'All webhook endpoints.' },
      ),
    ),
  },
  errors: [],
});

export const createWebhookEndpoint = operation({
  operationId: 'createWebhookEndpoint',
  method: 'POST',
  path: '/webhook-endpoints',
  tag: TAG,
  summary: 'Create a webhook endpoint',
  description:
    'Adds an endpoint. The endpoint receives events that occur after its creation. An endpoint ' +
    'with `delivery` PULL has no URL and is for receivers behind a firewall. `secret` is ' +
    `returned only in this response. A platform has at most ${MAX_ENDPOINTS} endpoints in ` +
    'addition to the endpoint of its configuration.',
  permission: 'MANAGE',
  query: NO_QUERY,
  body: CreateRequest,
  bodyRules(body) {
    const { delivery, url } = body as { delivery?: unknown; url?: unknown };
    if ((delivery === 'PULL') === (url === undefined)) return [];
    const message =
      url === undefined ? 'is required unless `delivery` is PULL' : 'must be absent with PULL';
    return [{ field: 'url', message }];
  },
  replies: { 201: WebhookEndpointWithSecret },
  errors: [],
  omitOnReplay: ['secret'],
});

export const getWebhookEndpointById = operation({
  operationId: 'getWebhookEndpointById',
  method: 'GET',
  path: '/webhook-endpoints/{endpointId}',
  tag: TAG,
  summary: 'Get a webhook endpoint',
  description: 'Returns one endpoint of the platform, without secrets.',
  permission: 'VIEW',
  params,
  query: NO_QUERY,
  replies: { 200: WebhookEndpoint },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const updateWebhookEndpoint = operation({
  operationId: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: '/webhook-endpoints/{endpointId}',
  tag: TAG,
  summary: 'Change, pause or resume a webhook endpoint',
  description:
    'Changes the fields of the request. With `status` PAUSED deliveries stop until the status is ' +
    'ENABLED. Events of this period are retained, each for at most seven days. The URL of the ' +
    'endpoint of the platform configuration is changed with `updatePlatformConfig`.',
  permission: 'MANAGE',
  params,
  query: NO_QUERY,
  body: UpdateRequest,
  replies: { 200: WebhookEndpoint },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const deleteWebhookEndpointById = operation({
  operationId: 'deleteWebhookEndpointById',
  method: 'DELETE',
  path: '/webhook-endpoints/{endpointId}',
  tag: TAG,
  summary: 'Delete a webhook endpoint',
  description:
    'Deletes an endpoint permanently. Its pending deliveries are discarded. Its delivery history ' +
    'is retained as long as its events. The endpoint of the platform configuration cannot be deleted.',
  permission: 'MANAGE',
  params,
  query: NO_QUERY,
  replies: { 204: null },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

export const rotateWebhookEndpointKey = operation({
  operationId: 'rotateWebhookEndpointKey',
  method: 'POST',
  path: '/webhook-endpoints/{endpointId}/keys/rotate',
  tag: TAG,
  summary: 'Rotate the signing key of a webhook endpoint',
  description:
    'Creates a signing key for the headers of Standard Webhooks. Until the overlap expires, ' +
    'deliveries are signed with the new and the earlier key. A receiver can verify with either ' +
    'key. Afterwards deliveries are signed with the new key only. `secret` is returned only in ' +
    'this response. A rotation is rejected with `CONFLICT` while three keys are valid. ' +
    'Deliveries to the endpoint of the ' +
    'platform configuration are signed with the keys of the service. The operator rotates ' +
    'these keys.',
  permission: 'MANAGE',
  params,
  query: NO_QUERY,
  body: named(
    'WebhookEndpointKeyRotateRequest',
    Type.Object(
      {
        overlapHours: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: MAX_OVERLAP_HOURS,
            description:
              'Hours for which earlier keys still sign, 0 to 168. Defaults to 24. With 0 they ' +
              'stop signing immediately. A key that expires earlier keeps its expiry.',
          }),
        ),
      },
      { additionalProperties: false, description: 'Options of the rotation.' },
    ),
  ),
  bodyOptional: true,
  replies: { 200: WebhookEndpointWithSecret },
  errors: [],
  notFound: 'NOT_FOUND',
  omitOnReplay: ['secret'],
});

export const endpointPaused = defineEvent('WEBHOOK_ENDPOINT.PAUSED', WebhookEndpoint);

export const endpointWebhooks: readonly WebhookContract[] = [
  {
    name: 'webhook-endpoint',
    summary: 'Webhook endpoint paused',
    description:
      'Sent to the other endpoints of the platform when an endpoint was paused because every ' +
      'attempt failed for five days.',
    events: [endpointPaused],
  },
];
