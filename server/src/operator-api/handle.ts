// Handlers of the operator API. Each gets the installation with a runtime whose commits contain audit
// records, and the operator. An operator of single platforms sees and changes nothing else: a list
// requires one of its platforms, a reply with another one is an unknown resource, and the commit of
// such a change is rejected.
import type { Static, TSchema } from '@sinclair/typebox';
import { type AuditedRequest, auditedRuntime } from '../features/staff/audit/index.ts';
import type { Operator } from '../kernel/caller.ts';
import {
  type Bound,
  type Contract,
  type Input,
  idempotencyOf,
} from '../kernel/contract/operation.ts';
import { Fault, invalidField } from '../kernel/fault.ts';
import { isAnyId } from '../kernel/id.ts';
import type { Ctx } from '../runtime/operation/context.ts';
import type { Installation, Provisioning } from './installation.ts';

/** What a handler works with. */
export interface OperatorCall {
  /** Its runtime writes audit records. */
  installation: Installation;
  provisioning: Provisioning;
  operator: Operator;
}

/** What the composition provides. */
type Provided = Omit<OperatorCall, 'operator'>;

type OperatorContract = Extract<Contract, { auth: 'operator' }>;
type BodyOf<S> = S extends TSchema ? Static<S> : undefined;

/** A handler of a contract, before the installation is known. */
export interface OperatorOperation {
  contract: Contract;
  bind(provided: Provided): Bound<Ctx>;
}

const notFound = () => new Fault('NOT_FOUND', 'Resource not found.');

/** Every platform id in a reply, at any depth. */
function* platformIdsIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const each of value) yield* platformIdsIn(each);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'platformId' && typeof inner === 'string') yield inner;
      else yield* platformIdsIn(inner);
    }
  }
}

/** The query of an operator of single platforms, which names one of them. */
function scopedQuery(
  contract: Contract,
  { platformIds }: Operator,
  query: Record<string, unknown>,
): Record<string, unknown> {
  const hasFilter = 'platformId' in (contract.query?.properties ?? {});
  if (platformIds === null || !hasFilter) return query;
  const [only, ...others] = platformIds;
  const platformId = query.platformId ?? (others.length === 0 ? only : undefined);
  if (platformId === undefined) throw invalidField('platformId', 'is required');
  if (!platformIds.includes(String(platformId))) throw notFound();
  return { ...query, platformId };
}

/** Rejects a reply about a platform that the operator may not access. */
function assertVisible({ platformIds }: Operator, body: unknown): void {
  if (platformIds === null) return;
  for (const id of platformIdsIn(body)) if (!platformIds.includes(id)) throw notFound();
}

/** The platform and the customer of a reply, for the record of a revelation. */
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

function requestOf(
  contract: Contract,
  operator: Operator,
  { runtime }: Installation,
  { params, headers, body }: RawInput,
): AuditedRequest {
  const key = headers['idempotency-key'];
  const takesKey = idempotencyOf(contract) !== 'none' && key !== undefined;
  const keyText = `${operator.id} ${contract.operationId} ${key}`;
  return {
    operator,
    operationId: contract.operationId,
    subject: Object.values(params).findLast((each) => isAnyId(each)),
    reason: body?.reason,
    requestKey: takesKey ? runtime.vault.digest('operator request', keyText) : undefined,
  };
}

/** Binds an operation of the operator API to its function. */
export const operatorHandle = <C extends OperatorContract, S extends keyof C['replies'] & number>(
  contract: C,
  run: (
    call: OperatorCall,
    input: Input<C>,
  ) => Promise<{ status: S; body: BodyOf<C['replies'][S]> }>,
): OperatorOperation => ({
  contract,
  bind: ({ installation, provisioning }) => ({
    contract,
    async run({ caller: { operator } }, input) {
      if (!operator) throw new Fault('UNAUTHORIZED', 'The operator token is missing or invalid.');
      // The route has validated the input against this contract.
      const raw = input as unknown as RawInput;
      const query = scopedQuery(contract, operator, raw.query);
      const request = requestOf(contract, operator, installation, raw);
      const audited = auditedRuntime(installation.runtime, request);
      const own = { ...installation, runtime: audited.runtime };
      const call = { installation: own, provisioning, operator };
      const reply = await run(call, { ...input, query } as Input<C>);
      assertVisible(operator, reply.body);
      const isRecorded = contract.method !== 'GET' || contract.reveals === true;
      if (isRecorded && audited.count() === 0) await audited.recordAccess(ownersIn(reply.body));
      return reply;
    },
  }),
});
