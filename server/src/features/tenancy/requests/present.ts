// A recorded request in the form of the API, and the filters of its lists.
import type { Static } from '@sinclair/typebox';
import { iso } from '../../../kernel/effects.ts';
import { STATUS_OF } from '../../../kernel/fault.ts';
import { equals, type Filter } from '../../../runtime/db/database.ts';
import { timeFilters } from '../../../runtime/db/paging.ts';
import type { CALLER_TYPES, getRequestById, listRequests } from './contract.ts';
import type { RecordedRequest } from './lookup.ts';
import type { ErrorRecord } from './masking.ts';
import { type apiRequests, hashOf, type RequestRow } from './store.ts';

export type ApiRequest = Static<(typeof listRequests)['replies'][200]>['data'][number];
export type ApiRequestDetails = Static<(typeof getRequestById)['replies'][200]>;

export function presentRequest(row: RequestRow): ApiRequest {
  const { token_id: tokenId, error } = row;
  return {
    id: row.id,
    createdAt: iso(row.created_at),
    operationId: row.operation_id,
    method: row.method,
    path: row.path,
    status: row.status,
    ...(row.error_code === null ? {} : { errorCode: row.error_code }),
    ...(error === null ? {} : { error: JSON.parse(error) as ErrorRecord & { details?: object } }),
    durationMs: row.duration_us / 1000,
    callerType: row.caller_type as (typeof CALLER_TYPES)[number],
    ...(tokenId === null ? {} : { token: { id: tokenId, name: row.token_name ?? '' } }),
    ...(row.agent_id === null ? {} : { agentId: row.agent_id }),
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.idempotency_key_hash === null ? {} : { idempotencyKeyHash: row.idempotency_key_hash }),
    replayed: row.replayed === true,
    ...(row.resource_id === null ? {} : { resourceId: row.resource_id }),
  };
}

const bodyOf = (text: string, truncated: boolean) => ({
  content: JSON.parse(text) as unknown,
  truncated,
});

export function presentDetails({ row, bodies }: RecordedRequest): ApiRequestDetails {
  const { request_body: request = null, response_body: response = null } = bodies ?? {};
  return {
    ...presentRequest(row),
    ...(request === null
      ? {}
      : { requestBody: bodyOf(request, bodies?.request_truncated === true) }),
    ...(response === null
      ? {}
      : { responseBody: bodyOf(response, bodies?.response_truncated === true) }),
  };
}

const ERROR_STATUSES = [...new Set(Object.values(STATUS_OF))];

type RequestFilter = Filter<typeof apiRequests>;

/** Errors have their own index. */
const statusFilter = (status: number): RequestFilter => ({
  column: status < 400 ? 'status' : 'failed_status',
  op: '=',
  value: status,
});

/** One branch for each status of errors, so that an index returns the rows of each in order. */
const classFilter = (statusClass: string): RequestFilter =>
  statusClass === '2xx'
    ? { column: 'status', op: '<=', value: 399 }
    : {
        or: ERROR_STATUSES.filter((status) =>
          statusClass.startsWith(String(status)[0] as string),
        ).map(statusFilter),
      };

const replayedFilter = (isReplayed: boolean): RequestFilter =>
  isReplayed ? { column: 'replayed', op: '=', value: true } : { column: 'replayed', op: 'isNull' };

type ListQuery = Static<(typeof listRequests)['query']>;

/** Filters. An undefined filter has no effect. */
export type RequestSelection = { [K in keyof ListQuery]?: ListQuery[K] | undefined };

const hashIf = (text: string | undefined) => (text === undefined ? undefined : hashOf(text));

/** Filters of a list of one platform, or of all platforms. */
export function requestFilters(
  platformId: string | undefined,
  query: RequestSelection,
): RequestFilter[] {
  const { statusClass, replayed: isReplayed, createdAfter, createdBefore } = query;
  const bounds = {
    ...(createdAfter === undefined ? {} : { createdAfter }),
    ...(createdBefore === undefined ? {} : { createdBefore }),
  };
  return [
    ...equals({
      platform_id: platformId,
      operation_hash: hashIf(query.operationId),
      operation_id: query.operationId,
      error_code: query.errorCode,
      token_hash: hashIf(query.tokenId),
      token_id: query.tokenId,
      resource_id: query.resourceId,
    }),
    ...(query.status === undefined ? [] : [statusFilter(query.status)]),
    ...(statusClass === undefined ? [] : [classFilter(statusClass)]),
    ...(isReplayed === undefined ? [] : [replayedFilter(isReplayed)]),
    ...(timeFilters(bounds) as RequestFilter[]),
  ];
}
