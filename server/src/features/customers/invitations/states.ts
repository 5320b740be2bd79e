// States of an invitation. EXPIRED is derived from the expiry time of a pending invitation and not
// stored.
import { stateTable } from '../../../kernel/states.ts';

export type InvitationStatus = 'PENDING' | 'CLAIMED' | 'CANCELLED';
type InvitationTransition = 'claim' | 'cancel';

export const invitationStates = stateTable<InvitationStatus, InvitationTransition>('Invitation', {
  PENDING: { claim: 'CLAIMED', cancel: 'CANCELLED' },
  CLAIMED: {},
  CANCELLED: {},
});
