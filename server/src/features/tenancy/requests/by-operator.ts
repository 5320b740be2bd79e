// Recorded requests of any platform for the operator, and the permission to keep bodies of a
// production platform until a time.
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { changePlatform, platformById, readOwnPlatform, systemCaller } from '../platform/index.ts';
import { pageOfAllRequests } from './all-platforms.ts';
import { platformOfRequest, readRequest } from './lookup.ts';
import { pageOfRequests } from './pages.ts';
import {
  type ApiRequest,
  type ApiRequestDetails,
  presentDetails,
  presentRequest,
  type RequestSelection,
} from './present.ts';

/** The latest requests of a platform, newest first. `limit` defaults to 100. */
export async function listRequestsByOperator(
  { db, effects }: Runtime,
  platformId: string,
  { limit = 100, ...query }: RequestSelection,
): Promise<ApiRequest[]> {
  const requests: ApiRequest[] = [];
  let cursor: string | undefined;
  do {
    const page = { sort: 'desc' as const, limit: limit - requests.length, cursor };
    const requestPage = await pageOfRequests(db, platformId, query, {
      ...page,
      now: effects.now(),
    });
    requests.push(...requestPage.rows.map(presentRequest));
    cursor = requestPage.nextCursor;
  } while (cursor && requests.length < limit);
  return requests;
}

type ListQuery = RequestSelection & {
  limit?: number | undefined;
  cursor?: string | undefined;
  sortOrder?: 'asc' | 'desc' | undefined;
};

type PlatformsQuery = Omit<ListQuery, 'sortOrder'> & { platformId?: string | undefined };

/** A page of the requests of a platform. Throws PLATFORM_NOT_FOUND. */
export async function pageOfRequestsByOperator(
  runtime: Runtime,
  platformId: string,
  { limit = 20, cursor, sortOrder = 'desc', ...query }: ListQuery,
) {
  const { db, effects } = runtime;
  const { id } = await platformById(runtime, platformId);
  const pageOptions = { sort: sortOrder, limit, cursor, now: effects.now() };
  const { rows, ...rest } = await pageOfRequests(db, id, query, pageOptions);
  return { data: rows.map(presentRequest), ...rest };
}

/**
 * A page of the requests of all platforms or of one platform, newest first. Throws
 * PLATFORM_NOT_FOUND, and INVALID_INPUT for an invalid period.
 */
export async function pageOfRequestsOfPlatforms(
  runtime: Runtime,
  { platformId, limit = 20, cursor, ...query }: PlatformsQuery,
) {
  const { db, effects } = runtime;
  const errors = rangeErrors(query);
  if (errors.length) throw invalid(errors);
  const { rows, ...rest } =
    platformId === undefined
      ? await pageOfAllRequests(db, query, { limit, cursor })
      : await pageOfRequests(db, (await platformById(runtime, platformId)).id, query, {
          ...{ sort: 'desc' as const, limit, cursor, now: effects.now() },
        });
  const data = rows.map((row) => ({ platformId: row.platform_id, ...presentRequest(row) }));
  return { data, ...rest };
}

/** A request of any platform by its ID. Throws NOT_FOUND. */
export async function requestByOperator(
  { db }: Runtime,
  id: string,
): Promise<ApiRequestDetails & { platformId: string }> {
  const platformId = await platformOfRequest(db, id);
  const request = platformId === undefined ? undefined : await readRequest(db, platformId, id);
  if (!request) throw new Fault('NOT_FOUND', 'Request not found.');
  return { platformId: request.row.platform_id, ...presentDetails(request) };
}

export interface BodyRetention {
  platformId: string;
  environment: Mode;
  /**
   * Time until which bodies are stored. Null if bodies are not stored, or in the sandbox, where
   * bodies are always stored.
   */
  requestBodiesUntil: string | null;
}

/**
 * Permits storage of the masked bodies of a production platform until a time. Null revokes the
 * permission. Throws PLATFORM_NOT_FOUND, INVALID_INPUT for a past time, and CONFLICT for a sandbox
 * platform.
 */
export async function keepRequestBodies(
  runtime: Runtime,
  platformId: string,
  until: Time | null,
): Promise<BodyRetention> {
  const { id, environment } = await platformById(runtime, platformId);
  if (until !== null && until <= runtime.effects.now()) {
    throw invalidField('until', 'must be in the future');
  }
  if (environment === 'sandbox') {
    throw new Fault(
      'CONFLICT',
      'Request bodies of sandbox platforms are always stored. Use a production platform.',
    );
  }
  await operate(runtime, systemCaller(id, environment), async (ctx) =>
    changePlatform(ctx, await readOwnPlatform(ctx), { request_bodies_until: until }),
  );
  const requestBodiesUntil = until === null ? null : iso(until);
  return { platformId: id, environment, requestBodiesUntil };
}
