// Records requests whose path is unknown or does not support the method. Only requests of a token that this
// process has accepted before are recorded, so that other requests cost no more than their head.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Naming } from '../../catalog/naming.ts';
import type { Contract } from '../../kernel/contract/operation.ts';
import type { Fault } from '../../kernel/fault.ts';
import { UNKNOWN_PATH, UNSUPPORTED_METHOD } from '../../runtime/observability/request-record.ts';
import { faultBody } from '../fault-body.ts';
import { BASE_PATH, type RouteOptions } from '../route.ts';
import type { AdmissionOptions } from './admission.ts';
import { recordsOf } from './request-records.ts';

interface UnroutedOptions
  extends Pick<RouteOptions, 'runtime' | 'naming' | 'log' | 'record'>,
    Pick<AdmissionOptions, 'authenticate' | 'wasValid'> {
  operations: readonly { contract: Contract }[];
}

const MAX_SEGMENTS = 12;

/** Masks the path of an unknown URL, because segments that occur in no operation may be secret. */
function createPathMask(operations: UnroutedOptions['operations'], naming: Naming) {
  const segmentNames = new Set(
    operations.flatMap(({ contract }) => naming.path(contract.path).split('/')),
  );
  return (url: string): string => {
    const [path = ''] = url.split('?');
    const relativePath = path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : path;
    const segments = relativePath.split('/').slice(0, MAX_SEGMENTS);
    const maskedSegments = segments.map((each) =>
      segmentNames.has(each) && !each.startsWith('{') ? each : '{unknown}',
    );
    return maskedSegments.join('/');
  };
}

/** Records a rejected request. `path` is the template if the path is known. */
export type RecordUnrouted = (
  request: FastifyRequest,
  reply: FastifyReply,
  fault: Fault,
  path?: string,
) => Promise<void>;

export function createUnroutedRecords(options: UnroutedOptions): RecordUnrouted {
  const { runtime, naming, log, record, authenticate, wasValid, operations } = options;
  const maskPath = createPathMask(operations, naming);
  return async (request, reply, fault, path) => {
    const { authorization } = request.headers;
    if (!record || !wasValid?.(authorization)) return;
    // The token may have been deleted after this process accepted it.
    const caller = await authenticate(authorization).catch(() => undefined);
    if (!caller) return;
    const contract = {
      operationId: path === undefined ? UNKNOWN_PATH : UNSUPPORTED_METHOD,
      method: request.method as Contract['method'],
      path: path ?? maskPath(request.url),
      ...{ tag: '', summary: '', permission: 'VIEW', replies: {}, errors: [], idempotency: 'none' },
    } as Contract;
    const body = faultBody(naming, fault);
    const response = { status: fault.status, body };
    const requestRecord = recordsOf(contract, runtime, naming)(
      request,
      caller,
      response,
      reply.elapsedTime,
    );
    log.request(requestRecord);
    record({
      record: requestRecord,
      contract,
      caller,
      params: {},
      query: {},
      body: undefined,
      reply: body,
    });
  };
}
