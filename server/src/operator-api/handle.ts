// Binds handlers of the operator API. A handler receives the operator, and the installation with a runtime
// whose commits contain audit records. An operator who is restricted to some platforms cannot read or change
// others. Lists contain only the permitted platforms, and resources of other platforms are not found.
import type { Readable } from 'node:stream';
import type { Static, TSchema } from '@sinclair/typebox';
import { PROVIDER_CHOICES } from '../features/providers/index.ts';
import type { SandboxWorldDeps } from '../features/sandbox/index.ts';
import {
  isApprovalNeeded,
  type NeededApproval,
  type RightsOfRequester,
  requestApproval,
  requirePolicies,
} from '../features/staff/approvals/index.ts';
import { type AuditedRequest, auditedRuntime } from '../features/staff/audit/index.ts';
import type { ChangeFeed } from '../features/staff/changes/index.ts';
import { sessions, type signIn } from '../features/staff/users/index.ts';
import { assertOperatorPermission, mayUse } from '../http/admission/admission.ts';
import type { Operator } from '../kernel/caller.ts';
import {
  type Bound,
  type Contract,
  type Input,
  idempotencyOf,
  type Reply,
  type ReplyHeaders,
} from '../kernel/contract/operation.ts';
import { Fault, invalidField } from '../kernel/fault.ts';
import { isAnyId } from '../kernel/id.ts';
import { NO_QUERY } from '../kernel/schema.ts';
import type { Ctx } from '../runtime/operation/context.ts';
import type { Runtime } from '../runtime/operation/operate.ts';
import { approvalProblem } from './approval-scope.ts';
import type { Installation, ProcessState, Provisioning } from './installation.ts';
import { Approval } from './schemas.ts';
import { scopedDatabase } from './scoped-database.ts';
import { mergedPage, mergedPlatforms, orderOf } from './several-platforms.ts';

export type IdentityProvider = ReturnType<typeof signIn.identityProvider>;

/** Input of a handler in addition to the request. */
export interface OperatorCall {
  /** The installation, whose runtime writes audit records. */
  installation: Installation;
  provisioning: Provisioning;
  /** Feed of the change stream. */
  changes: ChangeFeed;
  process: ProcessState;
  /** Operations of the platform API, to call them on behalf of a platform. */
  world: Pick<SandboxWorldDeps, 'operations' | 'perform'>;
  /** The runtime without audit records. */
  unauditedRuntime: Runtime;
  /** Another operation of the operator API. */
  operationOf(operationId: string): OperatorOperation | undefined;
  /** Configured base URL of the operator pages. */
  operatorUrl: string | undefined;
  /** Undefined if no identity provider is configured. */
  identityProvider: IdentityProvider | undefined;
  operator: Operator;
  request: RequestHeaders;
}

/** Request headers that identify the site and the session. */
interface RequestHeaders {
  host?: string | undefined;
  cookie?: string | undefined;
}

/** The dependencies that the composition provides. */
export type HandlerDeps = Omit<OperatorCall, 'operator' | 'unauditedRuntime' | 'request'>;

type OperatorContract = Extract<Contract, { auth: 'operator' }>;
type BodyOf<S> = S extends TSchema ? Static<S> : undefined;

/** A handler of a contract, before the installation is known. */
export interface OperatorOperation {
  contract: Contract;
  /** Executes the operation without policies. The runtime of `call` writes audit records. */
  execute(call: OperatorCall, input: Input): Promise<Reply>;
  bind(handlerDeps: HandlerDeps): Bound<Ctx>;
}

/** The contract with a query that rejects unknown parameters. */
export const withoutUnknownQuery = (contract: Contract): Contract => ({
  ...contract,
  query: { ...(contract.query ?? NO_QUERY), additionalProperties: false },
});

/**
 * The contract as served. The reply to a change that can require approval may be an approval, or CONFLICT
 * while an approval of the same change is pending.
 */
const servedContract = (contract: Contract): Contract => ({
  ...withoutUnknownQuery(contract),
  ...(approvalProblem(contract) === undefined && {
    replies: { ...contract.replies, 202: Approval },
    errors: [...new Set([...contract.errors, 'CONFLICT' as const])],
  }),
});

const notFound = (reason = 'Resource not found.') => new Fault('NOT_FOUND', reason);

/** Rejects a path with a platform that the operator may not access, like an unknown platform. */
function assertPlatformInPath(
  { notFound: code = 'NOT_FOUND' }: Contract,
  { platformIds }: Operator,
  { platformId }: Record<string, string>,
): void {
  if (platformIds === null || platformId === undefined) return;
  if (!platformIds.includes(platformId)) throw new Fault(code, 'Platform not found.');
}

/** Every platform ID in a reply, at any depth. */
function* platformIdsIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const each of value) yield* platformIdsIn(each);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, innerValue] of Object.entries(value)) {
      if (name === 'platformId' && typeof innerValue === 'string') yield innerValue;
      else yield* platformIdsIn(innerValue);
    }
  }
}

/**
 * The query of an operator who is restricted to some platforms. The query must select one of them, and a
 * single platform is selected by default. Lists that can be merged, searches, and sums over the platforms
 * of the operator require no selection.
 */
function scopedQuery(
  contract: Contract,
  { platformIds }: Operator,
  query: Record<string, unknown>,
): Record<string, unknown> {
  const hasFilter = 'platformId' in (contract.query?.properties ?? {});
  if (platformIds === null || !hasFilter) return query;
  const [firstPlatform, ...otherPlatforms] = platformIds;
  const platformId = query.platformId ?? (otherPlatforms.length === 0 ? firstPlatform : undefined);
  // A search contains only resources that the operator may see.
  const isLimited = contract.method === 'POST' || contract.sumsPlatforms === true;
  if (platformId === undefined && isLimited) return query;
  if (platformId === undefined) throw invalidField('platformId', 'is required');
  if (!platformIds.includes(String(platformId))) throw notFound();
  return { ...query, platformId };
}

/** Rejects a reply about a platform that the operator may not access. */
function assertVisible({ platformIds }: Operator, body: unknown): void {
  if (platformIds === null) return;
  for (const id of platformIdsIn(body)) if (!platformIds.includes(id)) throw notFound();
}

/**
 * Throws NOT_FOUND for a platform that the operator may not access, before the operation has an
 * effect. `reason` is the message, which must be that for an unknown resource.
 */
export function assertPlatform(
  { platformIds }: Operator,
  platformId: string,
  reason?: string,
): void {
  if (platformIds !== null && !platformIds.includes(platformId)) throw notFound(reason);
}

/** The platform and the customer of a reply, for the audit record of a read. */
function ownersIn(body: unknown): { platformId?: string; customerId?: string } {
  const { platformId, customerId } = (body ?? {}) as Record<string, unknown>;
  return {
    ...(typeof platformId === 'string' ? { platformId } : {}),
    ...(typeof customerId === 'string' ? { customerId } : {}),
  };
}

interface RawInput {
  params: Record<string, string>;
  query: Record<string, unknown>;
  headers: Record<string, string | undefined>;
  body: { reason?: string } | undefined;
}

const PROVIDER_NAME = new RegExp(PROVIDER_CHOICES.name);

/** The resource that a path names last: an ID, or the name of a provider. */
function subjectIn(params: RawInput['params']): string | undefined {
  const { providerId } = params;
  const isName = providerId !== undefined && PROVIDER_NAME.test(providerId);
  return (
    Object.values(params).findLast((each) => isAnyId(each)) ?? (isName ? providerId : undefined)
  );
}

/** A DELETE request has no body, so its reason is in the query. */
function reasonIn({ method }: Contract, { query, body }: RawInput): string | undefined {
  if (method !== 'DELETE') return body?.reason;
  return typeof query.reason === 'string' ? query.reason : undefined;
}

function requestOf(
  contract: Contract,
  operator: Operator,
  { runtime }: Installation,
  raw: RawInput,
): AuditedRequest {
  const { params, headers } = raw;
  const key = headers['idempotency-key'];
  const hasKey = idempotencyOf(contract) !== 'none' && key !== undefined;
  const keyText = `${operator.id} ${contract.operationId} ${key}`;
  return {
    operator,
    operationId: contract.operationId,
    subject: subjectIn(params),
    reason: reasonIn(contract, raw),
    requestKey: hasKey ? runtime.vault.digest('operator request', keyText) : undefined,
  };
}

/** Returns whether the requester of a change still has the permission for the change. */
export const rightsIn =
  ({
    operationOf,
    unauditedRuntime: { effects },
  }: Pick<OperatorCall, 'operationOf' | 'unauditedRuntime'>): RightsOfRequester =>
  async (reader, { requestedBy, operationId, platformId }) => {
    const { operator, rows } = await sessions.readCurrentOperator(
      reader,
      requestedBy,
      effects.now(),
    );
    const contract = operationOf(operationId)?.contract;
    const mayRequest =
      operator !== undefined &&
      contract !== undefined &&
      mayUse(contract, operator) &&
      (platformId === null || (operator.platformIds?.includes(platformId) ?? true));
    return { mayRequest, rows };
  };

/** Stores a change to which a policy applies until another operator decides. */
async function approvalReply(
  { installation: { runtime }, operationOf }: HandlerDeps,
  request: AuditedRequest,
  { params, query, body }: RawInput,
  neededApproval: NeededApproval,
): Promise<Reply> {
  const { operator, operationId, subject, reason } = request;
  const audited = auditedRuntime(runtime, { ...request, outcome: 'WAITING_FOR_APPROVAL' });
  const input = { params, query, body };
  const rightsOf = rightsIn({ operationOf, unauditedRuntime: runtime });
  const approval = await requestApproval(audited.runtime, rightsOf, {
    ...{ operator, operationId, subject, input, reason, requiredApproval: neededApproval },
  });
  return { status: 202, body: approval };
}

/**
 * The operator with the present rights. A request is admitted by its head, and its body may arrive a
 * minute later. Throws UNAUTHORIZED and FORBIDDEN.
 */
async function withPresentRights(
  contract: Contract,
  { runtime }: Installation,
  admittedOperator: Operator,
): Promise<Operator> {
  const currentOperator = await sessions.currentOperator(runtime, admittedOperator);
  if (!currentOperator)
    throw new Fault(
      'UNAUTHORIZED',
      'The session or the operator token has expired or was revoked. Sign in again, or use another token.',
    );
  const { address, requestId } = admittedOperator;
  const operator = {
    ...currentOperator,
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  assertOperatorPermission(contract, operator);
  return operator;
}

/** Whether an error rejects the request of the operator, as opposed to a failure of the server. */
const isRejection = (error: unknown): error is Fault =>
  error instanceof Fault && error.status < 500 && error.code !== 'RATE_LIMITED';

/**
 * Handles a change that was not made. Returns the approval of a change that needs one. Throws any
 * other error, and records rejections without an idempotency key, because the request can be
 * repeated.
 */
async function replyWithoutChange(
  handlerDeps: HandlerDeps,
  request: AuditedRequest,
  raw: RawInput,
  error: unknown,
): Promise<Reply> {
  try {
    if (!isApprovalNeeded(error)) throw error;
    return await approvalReply(handlerDeps, request, raw, error);
  } catch (rejection) {
    const { runtime } = handlerDeps.installation;
    // The route replies to a repeated request with the first reply.
    if (!isRejection(rejection) || (await auditedRuntime(runtime, request).isRepeated()))
      throw rejection;
    const rejectedRequest = { ...request, requestKey: undefined, outcome: rejection.code };
    const { platformId } = raw.params;
    await auditedRuntime(runtime, rejectedRequest).recordAccess({ platformId });
    throw rejection;
  }
}

/** Binds an operation of the operator API to its function. */
export function operatorHandle<C extends OperatorContract, S extends keyof C['replies'] & number>(
  declaredContract: C,
  run: (
    call: OperatorCall,
    input: Input<C>,
  ) => Promise<{
    status: S;
    body: BodyOf<C['replies'][S]>;
    headers?: ReplyHeaders;
    stream?: Readable;
  }>,
): OperatorOperation {
  const contract = servedContract(declaredContract);
  // The route has validated the input against this contract.
  const execute = (call: OperatorCall, input: Input) => run(call, input as Input<C>);
  const bind = ({ installation, ...handlerDeps }: HandlerDeps): Bound<Ctx> => ({
    contract,
    async run({ caller: { operator: admittedOperator } }, input) {
      if (!admittedOperator)
        throw new Fault('UNAUTHORIZED', 'The operator token is missing or invalid.');
      const operator =
        contract.method === 'GET'
          ? admittedOperator
          : await withPresentRights(contract, installation, admittedOperator);
      // The route passes headers and body as it received them.
      const raw = input as unknown as RawInput;
      assertPlatformInPath(contract, operator, raw.params);
      const mergedIds = mergedPlatforms(contract, operator, raw.query);
      const query = mergedIds ? raw.query : scopedQuery(contract, operator, raw.query);
      const request = requestOf(contract, operator, installation, raw);
      const check = requirePolicies(
        installation.runtime,
        contract.operationId,
        contract.needsApproval,
      );
      const audited = auditedRuntime(installation.runtime, request, check);
      const call = {
        ...{
          ...handlerDeps,
          operator,
          unauditedRuntime: installation.runtime,
          request: raw.headers,
        },
        installation: {
          ...installation,
          runtime: { ...audited.runtime, db: scopedDatabase(audited.runtime.db, operator) },
        },
      };
      try {
        const read = (selectedQuery: typeof query) =>
          execute(call, { ...input, query: selectedQuery });
        const reply = await (mergedIds
          ? mergedPage(mergedIds, query, orderOf(contract, query), read)
          : read(query));
        assertVisible(operator, reply.body);
        const isRecorded = contract.method !== 'GET' || contract.reveals === true;
        if (isRecorded && audited.count() === 0) await audited.recordAccess(ownersIn(reply.body));
        return reply;
      } catch (error) {
        // A read has no effect, and changes that were committed before the error have a record.
        if (contract.method === 'GET' || audited.count() > 0) throw error;
        return await replyWithoutChange({ installation, ...handlerDeps }, request, raw, error);
      }
    },
  });
  return { contract, execute, bind };
}
