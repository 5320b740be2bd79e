// States of an invitation. EXPIRED is not stored: it is derived from the expiry time of a pending
// invitation.
import { stateTable } from '../../../kernel/states.ts';

export type InvitationStatus = 'PENDING' | 'CLAIMED' | 'CANCELLED';
type InvitationTransition = 'claim' | 'cancel';

export const invitationStates = stateTable<InvitationStatus, InvitationTransition>('Invitation', {
  PENDING: { claim: 'CLAIMED', cancel: 'CANCELLED' },
  CLAIMED: {},
  CANCELLED: {},
});
