// Approval policies, and decisions about requested changes.
import { Type } from '@sinclair/typebox';
import { findCurrency } from '../catalog/currencies/currencies.ts';
import {
  approvalDetails,
  createPolicy,
  listApprovals,
  listPolicies,
  type NewPolicy,
  prepareApproved,
  rejectApproval,
  removePolicy,
} from '../features/staff/approvals/index.ts';
import { auditedRuntime } from '../features/staff/audit/index.ts';
import { readPlatform } from '../features/tenancy/platform/index.ts';
import { assertOperatorPermission } from '../http/admission/admission.ts';
import { operation } from '../kernel/contract/operation.ts';
import { Fault, type FieldError, invalid } from '../kernel/fault.ts';
import { named, oneOf, PageQuery, PositiveAmount, page, text, time } from '../kernel/schema.ts';
import { approvalProblem } from './approval-scope.ts';
import { type OperatorCall, operatorHandle, rightsIn } from './handle.ts';
import {
  APPROVAL,
  Approval,
  Changes,
  OptionalReason,
  PlatformFilter,
  Reason,
  RemovalQuery,
} from './schemas.ts';
import { scopedDatabase } from './scoped-database.ts';

const TAG = 'Approvals';
const base = { tag: TAG, auth: 'operator', commands: [] } as const;

const POLICY = {
  operationId: text('`operationId` of the operation that needs approval.', {
    minLength: 1,
    maxLength: 100,
  }),
  platformId: Type.Optional(
    text('Platform to which the policy applies. Absent for all platforms.'),
  ),
  minimum: Type.Optional(
    Type.Object(
      { amount: PositiveAmount, currency: text('Currency code of the amount, such as `EUR`.') },
      {
        description:
          'The policy applies only to changes with a posting of at least this amount. If absent, the ' +
          'policy applies to every change.',
      },
    ),
  ),
  hours: Type.Integer({
    minimum: 1,
    maximum: 720,
    description: 'Hours after which an undecided request expires.',
  }),
};
const Policy = named(
  'ApprovalPolicy',
  Type.Object(
    {
      id: text('ID of the policy.'),
      ...POLICY,
      createdBy: text('ID of the operator who created the policy.'),
      createdAt: time('Time at which the policy was created.'),
    },
    { description: 'Changes that a second operator must approve.' },
  ),
);
const policyParams = Type.Object({ policyId: text('ID of the policy.') });
const params = Type.Object({ approvalId: text('ID of the approval.') });

const create = operation({
  ...base,
  operationId: 'createApprovalPolicy',
  method: 'POST',
  path: '/approval-policies',
  summary: 'Create an approval policy',
  description:
    'Requires the approval of a second operator for an operation. The reply to a request to ' +
    'which the policy applies is 202 with an approval. Another operator with `approvals.decide` ' +
    'and the permission of the operation approves it. A policy that could never apply is ' +
    'rejected. Examples are an unknown platform or currency, and a minimum amount for an ' +
    'operation without postings. A policy for an operation that is not executed in one commit, ' +
    'such as the reset of a sandbox platform, is also rejected.',
  operatorPermission: 'staff.manage',
  wholeInstallation: true,
  body: Type.Object({ ...POLICY, ...OptionalReason }),
  replies: { 201: Policy },
  errors: [],
});

const listAll = operation({
  ...base,
  operationId: 'listApprovalPolicies',
  method: 'GET',
  path: '/approval-policies',
  summary: 'List approval policies',
  description: 'Returns all policies, newest first.',
  operatorPermission: 'staff.read',
  wholeInstallation: true,
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'ApprovalPolicyPage',
      page(Policy, { description: 'A page of approval policies, newest first.' }),
    ),
  },
  errors: [],
});

const remove = operation({
  ...base,
  operationId: 'deleteApprovalPolicy',
  method: 'DELETE',
  path: '/approval-policies/{policyId}',
  summary: 'Delete an approval policy',
  description:
    'Deletes a policy. Pending approvals remain valid. The deletion can require an approval.',
  operatorPermission: 'staff.manage',
  wholeInstallation: true,
  params: policyParams,
  query: RemovalQuery,
  replies: { 200: Policy },
  errors: [],
  notFound: 'NOT_FOUND',
});

const list = operation({
  ...base,
  operationId: 'listApprovals',
  method: 'GET',
  path: '/approvals',
  summary: 'List approvals',
  description: 'Returns requested changes and their decisions, newest first.',
  operatorPermission: 'approvals.read',
  query: Type.Object({
    status: Type.Optional(
      oneOf(['PENDING', 'APPROVED', 'REJECTED'], {
        description:
          'Return only approvals with this status. PENDING includes expired and invalid ones.',
      }),
    ),
    subject: Type.Optional(text('Return only approvals of changes to the resource with this ID.')),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'ApprovalPage',
      page(Approval, {
        description: 'A page of requested changes and their decisions, newest first.',
      }),
    ),
  },
  errors: [],
});

const get = operation({
  ...base,
  operationId: 'getApproval',
  method: 'GET',
  path: '/approvals/{approvalId}',
  summary: 'Get an approval with its changes',
  description:
    'Returns the input of the operation, and the rows and the postings that will change. The ' +
    'reply may contain personal data, so this request is recorded.',
  operatorPermission: 'approvals.decide',
  reveals: true,
  params,
  replies: {
    200: Type.Object({
      ...APPROVAL,
      input: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description:
            'Parameters and body of the request without its reason. Absent after an erasure of the ' +
            'customer.',
        }),
      ),
      changes: Type.Optional(Changes),
    }),
  },
  errors: [],
  notFound: 'NOT_FOUND',
});

const approve = operation({
  ...base,
  operationId: 'approveChange',
  method: 'POST',
  // An approval is executed only once, and its reply may contain a secret that must not be replayed.
  idempotency: 'none',
  path: '/approvals/{approvalId}/approve',
  summary: 'Approve and execute a change',
  description:
    'Executes the change and records the decision in one commit. Requires the permission of the ' +
    'operation. Requesters cannot approve their own changes. Returns `CONFLICT` if the change would ' +
    'differ from the requested one because data has changed, or if the requester no longer has the ' +
    'permission. Request the change again in this case.',
  operatorPermission: 'approvals.decide',
  params,
  body: Type.Object({ reason: Reason }),
  replies: {
    200: Type.Object({
      approvalId: text('ID of the approval.'),
      status: Type.Integer({ description: 'HTTP status of the executed operation, such as 200.' }),
      reply: Type.Unknown({
        description: 'Body that the executed operation returned, or null if it has no body.',
      }),
    }),
  },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const reject = operation({
  ...base,
  operationId: 'rejectChange',
  method: 'POST',
  path: '/approvals/{approvalId}/reject',
  summary: 'Reject a change',
  description: 'Rejects a requested change. Requesters cannot decide about their own changes.',
  operatorPermission: 'approvals.decide',
  params,
  body: Type.Object({ reason: Reason }),
  replies: { 200: Approval },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

/** Executes an approved change as the approver. */
async function execute(call: OperatorCall, approvalId: string, reason: string) {
  const { installation, operator, operationOf } = call;
  const { runtime } = installation;
  const approvedChange = await prepareApproved(runtime, approvalId, {
    ...{ operator, reason, rightsOf: rightsIn(call) },
  });
  const requestedOperation = operationOf(approvedChange.operationId);
  if (!requestedOperation)
    throw new Fault('CONFLICT', 'The operation no longer exists. Reject this approval.');
  assertOperatorPermission(requestedOperation.contract, operator);
  const { operationId } = requestedOperation.contract;
  const request = { operator, operationId, subject: approvalId, reason };
  const audited = auditedRuntime(call.unauditedRuntime, request, approvedChange.check);
  const db = scopedDatabase(audited.runtime.db, operator);
  const auditedInstallation = { ...installation, runtime: { ...audited.runtime, db } };
  const { params: requestParams, query, body } = approvedChange.input;
  const input = { params: requestParams, query, headers: {}, body } as Parameters<
    typeof requestedOperation.execute
  >[1];
  const reply = await requestedOperation.execute(
    { ...call, installation: auditedInstallation },
    input,
  );
  if (audited.count() === 0) {
    throw new Fault('CONFLICT', 'The change no longer has an effect. Reject this approval.');
  }
  return { approvalId, status: reply.status, reply: reply.body ?? null };
}

const NO_PLATFORM = 'must be absent for an operation on the whole installation';

/** Throws FORBIDDEN if the requested operation exists and the operator lacks its permission. */
function assertMayDecide({ operationOf, operator }: OperatorCall, operationId: string): void {
  const requestedOperation = operationOf(operationId);
  if (requestedOperation) assertOperatorPermission(requestedOperation.contract, operator);
}

/** Throws INVALID_INPUT with every field that prevents the policy from ever applying. */
async function assertPolicy(
  { operationOf, unauditedRuntime }: OperatorCall,
  { operationId, platformId, minimum }: NewPolicy,
): Promise<void> {
  const contract = operationOf(operationId)?.contract;
  const problem = approvalProblem(contract);
  const errors: FieldError[] = problem ? [{ field: 'operationId', message: problem }] : [];
  const isOfInstallation = !problem && contract?.wholeInstallation === true;
  if (platformId !== undefined) {
    const isKnown = (await readPlatform(unauditedRuntime.db, platformId)) !== undefined;
    if (!isKnown) errors.push({ field: 'platformId', message: 'is not the ID of a platform' });
    else if (isOfInstallation) errors.push({ field: 'platformId', message: NO_PLATFORM });
  }
  if (minimum && !problem && !contract?.postsMoney) {
    errors.push({ field: 'minimum', message: 'is only supported for operations with postings' });
  }
  if (minimum && !findCurrency(minimum.currency)) {
    errors.push({ field: 'minimum.currency', message: 'is not a known currency' });
  }
  if (errors.length) throw invalid(errors);
}

export const approvalOperations = [
  operatorHandle(create, async (call, { body: { reason: _, ...policy } }) => {
    await assertPolicy(call, policy);
    const { installation, operator } = call;
    return { status: 201, body: await createPolicy(installation.runtime, operator, policy) };
  }),
  operatorHandle(listAll, async ({ installation }, { query }) => ({
    status: 200,
    body: await listPolicies(installation.runtime, query),
  })),
  operatorHandle(remove, async ({ installation }, { params: { policyId } }) => ({
    status: 200,
    body: await removePolicy(installation.runtime, policyId),
  })),
  operatorHandle(list, async (call, { query }) => ({
    status: 200,
    body: await listApprovals(call.installation.runtime, rightsIn(call), call.operator, query),
  })),
  operatorHandle(get, async (call, { params: { approvalId } }) => {
    const { installation, operator } = call;
    const body = await approvalDetails(installation.runtime, rightsIn(call), operator, approvalId);
    assertMayDecide(call, body.operationId);
    return { status: 200, body };
  }),
  operatorHandle(approve, async (call, { params: { approvalId }, body: { reason } }) => ({
    status: 200,
    body: await execute(call, approvalId, reason),
  })),
  operatorHandle(reject, async (call, { params, body: { reason } }) => {
    const { installation, operator } = call;
    const { operationId } = await approvalDetails(
      installation.runtime,
      rightsIn(call),
      operator,
      params.approvalId,
    );
    assertMayDecide(call, operationId);
    const decision = { operator, reason };
    return {
      status: 200,
      body: await rejectApproval(installation.runtime, params.approvalId, decision),
    };
  }),
];
