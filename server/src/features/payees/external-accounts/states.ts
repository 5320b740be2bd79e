// The lifecycle of an external account, as a table. Events are results of bank checks, reviews and
// proofs of ownership.
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

export type ExternalAccountEvent =
  | 'check'
  | 'pass'
  | 'review'
  | 'reject'
  | 'disable'
  | 'reactivate'
  | 'challenge'
  | 'prove'
  | 'disprove';

export const externalAccountStates = stateTable<ExternalAccountStatus, ExternalAccountEvent>(
  'external account',
  {
    PENDING: { pass: 'ACTIVE', review: 'UNDER_REVIEW', reject: 'INACTIVE' },
    UNDER_REVIEW: { pass: 'ACTIVE', reject: 'INACTIVE' },
    // `check`: an operator requested a check of a bank account. `disprove`: an optional proof of
    // ownership failed.
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
