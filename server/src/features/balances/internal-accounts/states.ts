// The life of an internal account as a table. Only an active account lets new money through; a frozen one
// waits for a person, a failed one was never provided for, a pending one is about to be.
import { stateTable } from '../../../kernel/states.ts';

export const INTERNAL_ACCOUNT_STATUSES = [
  'PENDING',
  'ACTIVE',
  'CLOSED',
  'FROZEN',
  'FAILED',
] as const;
export type InternalAccountStatus = (typeof INTERNAL_ACCOUNT_STATUSES)[number];

/** What can happen to an account. */
export type InternalAccountEvent = 'provision' | 'fail' | 'retry' | 'freeze' | 'unfreeze' | 'close';

/** A closed account stays closed; whoever closes one makes sure that it is empty. */
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

/** Through any other account nothing new moves. */
export const isOpen = (status: InternalAccountStatus): boolean => status === 'ACTIVE';
