// Recorded requests as the API shows them.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { type Code, STATUS_OF } from '../../../kernel/fault.ts';
import {
  NO_QUERY,
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';

const TAG = 'Requests';

const optional = Type.Optional;

export const CALLER_TYPES = ['TOKEN', 'AGENT', 'LINK'] as const;
const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const;
const CODES = Object.keys(STATUS_OF) as Code[];

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

const RequestError = named(
  'RequestError',
  Type.Object(
    {
      reason: text(
        'Reason for the error reply. Values that it repeats from the request are replaced by ' +
          '`[masked]`.',
      ),
      details: optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'Details of the error reply: `errors` names each rejected field with the rule that ' +
              'it violates. Absent if the reply had none.',
          },
        ),
      ),
    },
    { description: 'The error reply of a request, without values of the request.' },
  ),
);

const RequestToken = named(
  'RequestToken',
  Type.Object(
    {
      id: text('ID of the token. The token may have been deleted since.'),
      name: text('Display name of the token at the time of the request.'),
    },
    { description: 'The API token of a request.' },
  ),
);

const fields = {
  id: text('ID of the request: the `X-Request-Id` header of its reply.'),
  createdAt: withDescription(Timestamp, 'Time at which the request arrived.'),
  operationId: text(
    'Operation of this API, such as `createQuote`. `unknownPath` and `unsupportedMethod` for ' +
      'requests without an operation. Such requests are recorded only for a token that the ' +
      'process accepted shortly before.',
  ),
  method: text('HTTP method.'),
  path: text(
    'Template of the path below the versioned base, with parameters in braces, such as ' +
      '`/quotes/{quoteId}`. Parts of an unknown path that occur in no operation are `{unknown}`.',
  ),
  status: Type.Integer({ description: 'HTTP status of the reply.' }),
  errorCode: optional(text('Error code of the reply. Absent if the request succeeded.')),
  error: optional(
    withDescription(
      RequestError,
      'Reason and details of an error reply. Absent if the request succeeded.',
    ),
  ),
  durationMs: Type.Number({
    minimum: 0,
    description:
      'Time from the arrival of the request to its reply, in milliseconds, to three decimal ' +
      'places. The waiting time of a request with `wait` is included.',
  }),
  callerType: oneOf(CALLER_TYPES, {
    description:
      'Credential of the request. TOKEN: an API token. AGENT: the access token of an agent. ' +
      'LINK: the link of a hosted page.',
  }),
  token: optional(withDescription(RequestToken, 'The API token. Absent for other credentials.')),
  agentId: optional(text('ID of the agent that sent the request. Absent for other credentials.')),
  address: optional(
    text(
      'IP address of the client. Present for API tokens only, because agents and hosted pages ' +
        'may run on the device of a person.',
    ),
  ),
  idempotencyKeyHash: optional(
    text(
      'Keyed hash of the `Idempotency-Key`: requests of the platform with the same key have ' +
        'the same hash. The key itself is not stored. Absent for a request without a key.',
    ),
  ),
  replayed: Type.Boolean({
    description: 'Whether the reply is the stored reply of an earlier request with the same key.',
  }),
  resourceId: optional(
    text(
      'ID of the resource that the request created or affected, or that a rejected request ' +
        'named. Absent for a successful read.',
    ),
  ),
};

export const ApiRequest = named(
  'ApiRequest',
  Type.Object(fields, { description: 'A request of the platform with a reply.' }),
);

const RequestBody = named(
  'RequestBody',
  Type.Object(
    {
      content: Type.Unsafe<unknown>({
        description:
          'The JSON body. Strings are replaced by `[masked]`, except enumeration values, ' +
          'currency codes, and the values of ID and time fields. Names of unknown fields ' +
          'are replaced by `[unknown]` and a number.',
      }),
      truncated: Type.Boolean({
        description: 'Whether fields or items after the first 16 KiB are absent.',
      }),
    },
    { description: 'A masked body.' },
  ),
);

const ApiRequestDetails = named(
  'ApiRequestDetails',
  Type.Object(
    {
      ...fields,
      requestBody: optional(
        withDescription(
          RequestBody,
          'Body of the request. Retained for requests that change data, except on hosted pages. ' +
            'For production platforms, the operator must allow the retention.',
        ),
      ),
      responseBody: optional(
        withDescription(
          RequestBody,
          'Body of a successful reply, retained like `requestBody`. An error reply is in `error`.',
        ),
      ),
    },
    { description: 'A request of the platform, with its bodies if they are retained.' },
  ),
);

const RETENTION =
  'Requests are retained for 30 days unless the operator has set another period. A request is ' +
  'listed at most a second after its reply. ' +
  'The requests of the last second can be lost if the server stops unexpectedly.';

export const listRequests = operation({
  operationId: 'listRequests',
  method: 'GET',
  path: '/requests',
  tag: TAG,
  summary: 'List requests',
  description:
    'Returns the requests of the platform that match every filter, newest first by default. ' +
    'Requests that were rejected after authentication are included. Each process records at ' +
    'most 20 rejections with `RATE_LIMITED` of a platform per second. Requests without a valid ' +
    'credential belong to no platform and are not included. With filters a page may be shorter ' +
    'than `limit` ' +
    `although \`hasMore\` is true. ${RETENTION} Unknown parameters are rejected.`,
  permission: 'VIEW',
  query: Type.Object(
    {
      operationId: optional(text('Filter by operation.', { minLength: 1, maxLength: 100 })),
      status: optional(
        Type.Integer({ minimum: 200, maximum: 599, description: 'Filter by HTTP status.' }),
      ),
      statusClass: optional(
        oneOf(STATUS_CLASSES, { description: 'Filter by class of the HTTP status.' }),
      ),
      errorCode: optional(oneOf(CODES, { description: 'Filter by error code.' })),
      tokenId: optional(text('Filter by API token.', { pattern: `^Token:${UUID}$` })),
      resourceId: optional(
        text('Filter by the created or affected resource.', { pattern: `^[A-Za-z]+:${UUID}$` }),
      ),
      replayed: optional(
        Type.Boolean({
          description: 'Filter by whether the reply is the stored reply of an earlier request.',
        }),
      ),
      createdAfter: optional(withDescription(Timestamp, 'Earliest time of arrival, inclusive.')),
      createdBefore: optional(withDescription(Timestamp, 'Latest time of arrival, inclusive.')),
      ...PageQuery,
      sortOrder: optional(
        oneOf(['asc', 'desc'], { default: 'desc', description: '`desc`: newest first.' }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: {
    200: named('ApiRequestListResponse', page(ApiRequest, { description: 'A page of requests.' })),
  },
  errors: [],
});

export const getRequestById = operation({
  operationId: 'getRequestById',
  method: 'GET',
  path: '/requests/{requestId}',
  tag: TAG,
  summary: 'Get a request',
  description:
    'Returns one request of the platform by the `X-Request-Id` of its reply. The reason and ' +
    'details of an error are included, and the masked bodies if they are retained. ' +
    RETENTION,
  permission: 'VIEW',
  params: Type.Object({ requestId: text('The `X-Request-Id` of the reply.') }),
  query: NO_QUERY,
  replies: { 200: ApiRequestDetails },
  errors: [],
  notFound: 'NOT_FOUND',
});
