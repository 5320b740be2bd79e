// Lifecycles of cards and delegated keys. The lifecycle of card payments is defined with the other
// transactions.
import { stateTable } from '../../../kernel/states.ts';

export const CARD_STATES = ['PENDING_KYC', 'PROCESSING', 'ACTIVE', 'FROZEN', 'CLOSED'] as const;
/** PENDING_KYC is unused, because no card is issued without an approved cardholder. */
export type CardState = Exclude<(typeof CARD_STATES)[number], 'PENDING_KYC'>;

export const cardStates = stateTable<
  CardState,
  'activate' | 'reject' | 'freeze' | 'unfreeze' | 'close'
>('card', {
  // Only the service can close a card that is not issued yet.
  PROCESSING: { activate: 'ACTIVE', reject: 'CLOSED', close: 'CLOSED' },
  ACTIVE: { freeze: 'FROZEN', close: 'CLOSED' },
  FROZEN: { unfreeze: 'ACTIVE', close: 'CLOSED' },
  CLOSED: {},
});

export const CARD_STATE_REASONS = [
  'ISSUER_REJECTED',
  'CLOSED_BY_PLATFORM',
  'CLOSED_BY_SERVICE',
] as const;
export type CardStateReason = (typeof CARD_STATE_REASONS)[number];

export type DelegatedKeyStatus = 'PENDING' | 'ACTIVE' | 'REVOKED';

/** A key is revoked when its funding source is removed, even before its activation. */
export const delegatedKeyStates = stateTable<DelegatedKeyStatus, 'activate' | 'revoke'>(
  'delegated key',
  {
    PENDING: { activate: 'ACTIVE', revoke: 'REVOKED' },
    ACTIVE: { revoke: 'REVOKED' },
    REVOKED: {},
  },
);
