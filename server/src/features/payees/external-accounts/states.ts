// The life of an external account as a table. What the checks of a bank, a review or a proof of ownership
// find moves it; whoever moves it asks here.
import { stateTable } from '../../../kernel/states.ts';

export const EXTERNAL_ACCOUNT_STATUSES = [
  'PENDING',
  'ACTIVE',
  'PENDING_OWNERSHIP_VERIFICATION',
  'UNVERIFIED',
  'UNDER_REVIEW',
  'INACTIVE',
] as const;
export type ExternalAccountStatus = (typeof EXTERNAL_ACCOUNT_STATUSES)[number];

/** What can happen to an external account. */
export type ExternalAccountEvent =
  | 'check'
  | 'pass'
  | 'review'
  | 'refuse'
  | 'disable'
  | 'reactivate'
  | 'challenge'
  | 'prove'
  | 'disprove';

export const externalAccountStates = stateTable<ExternalAccountStatus, ExternalAccountEvent>(
  'external account',
  {
    PENDING: { pass: 'ACTIVE', review: 'UNDER_REVIEW', refuse: 'INACTIVE' },
    UNDER_REVIEW: { pass: 'ACTIVE', refuse: 'INACTIVE' },
    // A bank account is usable until somebody wants it checked. A wallet that need not be proven may be,
    // and a proof that fails then counts all the same.
    ACTIVE: {
      check: 'PENDING',
      review: 'UNDER_REVIEW',
      disable: 'INACTIVE',
      disprove: 'UNVERIFIED',
    },
    INACTIVE: { reactivate: 'ACTIVE' },
    PENDING_OWNERSHIP_VERIFICATION: { prove: 'ACTIVE', disprove: 'UNVERIFIED' },
    UNVERIFIED: { challenge: 'PENDING_OWNERSHIP_VERIFICATION' },
  },
);
