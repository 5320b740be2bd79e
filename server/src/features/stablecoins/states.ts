// Lifecycles of stablecoins: provider accounts, tokens, their use by the service, mints and burns.
import type { IssuanceStatus } from '../../connectors/ports/stablecoins.ts';
import { stateTable } from '../../kernel/states.ts';

export const LINK_STATUSES = ['ACTIVE', 'INVALID', 'REVOKED'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

export type LinkEvent = 'invalidate' | 'revoke' | 'relink';

/** A rejected account can be linked again and keeps its tokens. */
export const linkStates = stateTable<LinkStatus, LinkEvent>('provider account', {
  ACTIVE: { invalidate: 'INVALID', revoke: 'REVOKED' },
  INVALID: { relink: 'ACTIVE' },
  REVOKED: { relink: 'ACTIVE' },
});

export type IssuanceEvent = 'review' | 'provision' | 'reject' | 'fail';

export const issuanceStates = stateTable<IssuanceStatus, IssuanceEvent>('stablecoin', {
  PENDING_REVIEW: {
    review: 'PROVISIONING',
    provision: 'PROVISIONED',
    reject: 'REJECTED',
    fail: 'FAILED',
  },
  PROVISIONING: { provision: 'PROVISIONED', reject: 'REJECTED', fail: 'FAILED' },
  PROVISIONED: {},
  REJECTED: {},
  FAILED: {},
});

/** Statuses of a token that is or may be issued. Other tokens reserve no symbol or identifier. */
export const ISSUABLE_STATUSES = ['PENDING_REVIEW', 'PROVISIONING', 'PROVISIONED'] as const;
export const isIssuable = (status: IssuanceStatus): boolean =>
  ISSUABLE_STATUSES.some((each) => each === status);

export const SERVICE_STATUSES = [
  'NOT_ENABLED',
  'PENDING_APPROVAL',
  'ENABLING',
  'ENABLED',
  'DISABLED',
] as const;
export type ServiceStatus = (typeof SERVICE_STATUSES)[number];
export type ServiceEvent = 'request' | 'reject' | 'approve' | 'enable' | 'disable' | 'drop';

/**
 * A platform requests the use of a token, and the operator decides. The request or approval of a
 * token that is never issued is revoked automatically.
 */
export const serviceStates = stateTable<ServiceStatus, ServiceEvent>('service of a stablecoin', {
  NOT_ENABLED: { request: 'PENDING_APPROVAL', approve: 'ENABLING' },
  PENDING_APPROVAL: { approve: 'ENABLING', reject: 'NOT_ENABLED', drop: 'NOT_ENABLED' },
  ENABLING: { enable: 'ENABLED', disable: 'DISABLED', drop: 'DISABLED' },
  ENABLED: { disable: 'DISABLED' },
  DISABLED: { approve: 'ENABLING' },
});

export const OPERATION_STATUSES = [
  'CREATED',
  'PENDING_FUNDING',
  'PENDING_PROVIDER',
  'PROCESSING',
  'COMPLETED',
  'FAILED',
  'EXPIRED',
] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];
export type OperationEvent = 'fund' | 'submit' | 'process' | 'complete' | 'fail' | 'expire';

/**
 * A provider may have advanced by several steps, so steps can be skipped. A payment after the
 * deadline continues the operation.
 */
export const operationStates = stateTable<OperationStatus, OperationEvent>('mint or burn', {
  CREATED: {
    fund: 'PENDING_FUNDING',
    submit: 'PENDING_PROVIDER',
    process: 'PROCESSING',
    complete: 'COMPLETED',
    fail: 'FAILED',
    expire: 'EXPIRED',
  },
  PENDING_FUNDING: {
    submit: 'PENDING_PROVIDER',
    process: 'PROCESSING',
    complete: 'COMPLETED',
    fail: 'FAILED',
    expire: 'EXPIRED',
  },
  PENDING_PROVIDER: { process: 'PROCESSING', complete: 'COMPLETED', fail: 'FAILED' },
  PROCESSING: { complete: 'COMPLETED', fail: 'FAILED' },
  COMPLETED: {},
  FAILED: {},
  EXPIRED: { process: 'PROCESSING', complete: 'COMPLETED' },
});
