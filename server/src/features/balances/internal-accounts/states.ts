// The lifecycle of an internal account, as a table. New payments require ACTIVE. PENDING: being
// provisioned. FROZEN: blocked until an operator unfreezes or closes the account.
import { stateTable } from '../../../kernel/states.ts';

export const INTERNAL_ACCOUNT_STATUSES = [
  'PENDING',
  'ACTIVE',
  'CLOSED',
  'FROZEN',
  'FAILED',
] as const;
export type InternalAccountStatus = (typeof INTERNAL_ACCOUNT_STATUSES)[number];

export type InternalAccountEvent = 'provision' | 'fail' | 'retry' | 'freeze' | 'unfreeze' | 'close';

/** CLOSED is final. An account must be empty to be closed. */
export const internalAccountStates = stateTable<InternalAccountStatus, InternalAccountEvent>(
  'internal account',
  {
    PENDING: { provision: 'ACTIVE', fail: 'FAILED' },
    FAILED: { retry: 'PENDING' },
    ACTIVE: { freeze: 'FROZEN', close: 'CLOSED' },
    FROZEN: { unfreeze: 'ACTIVE', close: 'CLOSED' },
    CLOSED: {},
  },
);

/** Whether new payments are allowed. */
export const isOpen = (status: InternalAccountStatus): boolean => status === 'ACTIVE';
