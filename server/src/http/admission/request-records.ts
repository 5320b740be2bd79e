// Records of requests, created when the reply is sent.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Naming } from '../../catalog/naming.ts';
import type { Caller } from '../../kernel/caller.ts';
import { type Contract, idempotencyOf } from '../../kernel/contract/operation.ts';
import { isAnyId, timeOfUuid7 } from '../../kernel/id.ts';
import type { CallerType, RequestRecord } from '../../runtime/observability/request-record.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';

interface RecordedReply {
  status: number;
  body: unknown;
  replayed?: boolean;
}

const idIn = (value: unknown): string | undefined =>
  typeof value === 'string' && isAnyId(value) ? value : undefined;

/** The ID of a nested resource in a reply, such as `agent`, or in a field `…Id`. */
function nestedId(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const members = Object.entries(body);
  for (const [, value] of members) {
    const id = idIn((value as { id?: unknown } | null | undefined)?.id);
    if (id !== undefined) return id;
  }
  return idIn(members.find(([name, value]) => name.endsWith('Id') && idIn(value))?.[1]);
}

/**
 * The ID in the reply of a write. Without such an ID, the last ID in the path, or an ID that is
 * nested in the reply. Undefined for a successful read, which affects no resource.
 */
export function resourceOf(
  { method }: Contract,
  { status, body }: RecordedReply,
  params: object,
): string | undefined {
  if (method === 'GET' && status < 400) return undefined;
  const createdId =
    status < 400 ? idIn((body as { id?: unknown } | null | undefined)?.id) : undefined;
  if (createdId !== undefined) return createdId;
  const resourceId = Object.values(params).findLast((value) => idIn(value) !== undefined);
  return resourceId ?? (status < 400 ? nestedId(body) : undefined);
}

function callerTypeOf({ auth }: Contract, { platformId, agentId }: Caller): CallerType {
  if (platformId === '') return 'NONE';
  if (agentId !== undefined) return 'AGENT';
  return auth === 'hosted' ? 'LINK' : 'TOKEN';
}

/** Characters of the stored hash: 128 bits. */
const HASH_LENGTH = 32;

/** Returns a function that creates the record of a completed request of a contract. */
export function recordsOf(contract: Contract, { vault }: Pick<Runtime, 'vault'>, naming: Naming) {
  const takesKey = idempotencyOf(contract) !== 'none';
  const path = naming.path(contract.path);

  function hashOf({ headers }: FastifyRequest, { platformId }: Caller): string | undefined {
    const key = takesKey && platformId ? headers['idempotency-key'] : undefined;
    if (typeof key !== 'string' || key === '') return undefined;
    return vault.digest('idempotency key', `${platformId} ${key}`).slice(0, HASH_LENGTH);
  }

  return (
    request: FastifyRequest,
    caller: Caller,
    response: RecordedReply,
    ms: number,
  ): RequestRecord => {
    const { id, params } = request;
    const { status, body } = response;
    const callerType = callerTypeOf(contract, caller);
    const isToken = callerType === 'TOKEN';
    const code = status < 400 ? undefined : (body as { code?: string } | null)?.code;
    return {
      requestId: id,
      createdAt: timeOfUuid7(id),
      platformId: caller.platformId,
      operationId: contract.operationId,
      method: contract.method,
      path,
      status,
      ms,
      errorCode: code === undefined ? undefined : naming.neutralName(code),
      callerType,
      tokenId: isToken ? (caller.tokenId ?? undefined) : undefined,
      tokenName: isToken ? caller.tokenName : undefined,
      agentId: caller.agentId,
      // A trusted proxy can forward any text.
      address: isToken && isIP(request.ip) ? request.ip : undefined,
      idempotencyKeyHash: hashOf(request, caller),
      isReplayed: response.replayed === true,
      resourceId: resourceOf(contract, response, params as object),
    };
  };
}
