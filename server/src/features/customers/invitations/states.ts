// The life of an invitation. EXPIRED is not in it: that is what a pending invitation is called once its time
// is over, so nothing has to happen at that moment.
import { stateTable } from '../../../kernel/states.ts';

export type InvitationStatus = 'PENDING' | 'CLAIMED' | 'CANCELLED';
type InvitationMove = 'claim' | 'cancel';

export const invitationStates = stateTable<InvitationStatus, InvitationMove>('Invitation', {
  PENDING: { claim: 'CLAIMED', cancel: 'CANCELLED' },
  CLAIMED: {},
  CANCELLED: {},
});
