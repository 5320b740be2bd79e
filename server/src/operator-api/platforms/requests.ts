// Recorded requests of any platform, with their masked bodies.
import { Type } from '@sinclair/typebox';
import {
  ApiRequest,
  getRequestById,
  listRequests,
  pageOfRequestsByOperator,
  pageOfRequestsOfPlatforms,
  requestByOperator,
} from '../../features/tenancy/requests/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named, page, text } from '../../kernel/schema.ts';
import { operatorHandle } from '../handle.ts';
import { PlatformFilter } from '../schemas.ts';

const TAG = 'Requests';
const platformId = text('ID of the platform.');

const list = operation({
  operationId: 'listRequestsOfPlatform',
  method: 'GET',
  path: '/platforms/{platformId}/requests',
  tag: TAG,
  summary: 'List requests of a platform',
  description:
    'Returns the requests of a platform that match every filter, newest first by default. With ' +
    'filters a page may be shorter than `limit` although `hasMore` is true. Requests are ' +
    'retained for 30 days unless another period is set.',
  auth: 'operator',
  operatorPermission: 'requests.read',
  commands: ['requests list'],
  params: Type.Object({ platformId }),
  query: listRequests.query,
  replies: {
    200: named(
      'RequestPage',
      page(ApiRequest, {
        description: 'A page of recorded requests of a platform, newest first by default.',
      }),
    ),
  },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const { sortOrder: _, ...FILTERS } = listRequests.query.properties;

const listAll = operation({
  operationId: 'listRequestsOfPlatforms',
  method: 'GET',
  path: '/requests',
  tag: TAG,
  summary: 'List requests',
  description:
    'Returns the requests of all platforms or of one that match every filter, newest first. ' +
    'With filters a page may be shorter than `limit`, or empty, although `hasMore` is true. ' +
    'Requests are retained for 30 days unless another period is set.',
  auth: 'operator',
  operatorPermission: 'requests.read',
  commands: [],
  query: Type.Object({ ...PlatformFilter, ...FILTERS }),
  replies: {
    200: named(
      'RequestOfPlatformPage',
      page(Type.Intersect([Type.Object({ platformId }), ApiRequest]), {
        description: 'A page of recorded requests with their platforms, newest first.',
      }),
    ),
  },
  errors: ['NOT_FOUND', 'PLATFORM_NOT_FOUND'],
});

const get = operation({
  operationId: 'getRequestOfPlatform',
  method: 'GET',
  path: '/requests/{requestId}',
  tag: TAG,
  summary: 'Get a request',
  description:
    'Returns one request by the `X-Request-Id` of its reply. The reason and details of an error ' +
    'are included, and the masked bodies if they are retained.',
  auth: 'operator',
  operatorPermission: 'requests.read',
  commands: ['requests show'],
  params: getRequestById.params,
  replies: {
    200: Type.Intersect([Type.Object({ platformId }), getRequestById.replies[200]]),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

export const requestOperations = [
  operatorHandle(listAll, async ({ installation }, { query }) => ({
    status: 200,
    body: await pageOfRequestsOfPlatforms(installation.runtime, query),
  })),
  operatorHandle(list, async ({ installation }, { params, query }) => ({
    status: 200,
    body: await pageOfRequestsByOperator(installation.runtime, params.platformId, query),
  })),
  operatorHandle(get, async ({ installation }, { params: { requestId } }) => ({
    status: 200,
    body: await requestByOperator(installation.runtime, requestId),
  })),
];
