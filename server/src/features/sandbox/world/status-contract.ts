// Contract of the operation that sets statuses of sandbox resources that only an operator sets in production.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { NO_QUERY, named, oneOf } from '../../../kernel/schema.ts';

const STATUSES = [
  'ACTIVE',
  'APPROVED',
  'CLOSED',
  'COMPLETED',
  'DISABLED',
  'ENABLING',
  'FAILED',
  'FROZEN',
  'HOLD',
  'INACTIVE',
  'NOT_ENABLED',
  'PENDING',
  'REJECTED',
  'UNDER_REVIEW',
] as const;
export type SandboxStatus = (typeof STATUSES)[number];

const SandboxStatusRequest = named(
  'SandboxStatusRequest',
  Type.Object(
    {
      resourceId: Type.String({
        maxLength: 100,
        description:
          'ID of an internal account, an external account, a customer, an incoming payment or a ' +
          'stablecoin.',
      }),
      status: oneOf(STATUSES, { description: 'New status of the resource.' }),
      reason: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Reason, stored with the change of an account or a stablecoin.',
        }),
      ),
    },
    { additionalProperties: false, description: 'A resource and its new status.' },
  ),
);

const SandboxResourceStatus = named(
  'SandboxResourceStatus',
  Type.Object(
    {
      resourceId: Type.String({ description: 'ID of the resource.' }),
      status: Type.String({ description: 'Status of the resource after the change.' }),
    },
    { description: 'A resource and its status.' },
  ),
);

export const setSandboxStatus = operation({
  operationId: 'setSandboxStatus',
  method: 'POST',
  path: '/sandbox/status',
  tag: 'Sandbox Fixtures',
  summary: 'Set a status that the operator decides',
  description:
    'Applies a decision of the operator of the server, so that a test can reach every status. ' +
    'Internal accounts: FROZEN, ACTIVE, CLOSED. External accounts: PENDING, UNDER_REVIEW, ' +
    'INACTIVE, ACTIVE. Customers: HOLD, APPROVED, REJECTED. Held incoming payments: ' +
    'COMPLETED (released), FAILED (returned). Stablecoins (`serviceOperationsStatus`): ' +
    'ENABLING (approved), NOT_ENABLED (rejected), DISABLED. The conditions and events are ' +
    'those of a decision by the operator. Returns 409 `CONFLICT` if the current status does not ' +
    'allow the change. A resource that already has the status does not change.',
  permission: 'MANAGE',
  query: NO_QUERY,
  sandboxOnly: true,
  callsExternal: true,
  body: SandboxStatusRequest,
  replies: { 200: SandboxResourceStatus },
  errors: ['NOT_FOUND', 'CUSTOMER_DELETED'],
});
