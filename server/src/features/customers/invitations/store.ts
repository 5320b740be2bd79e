// An invitation: who invites whom, and how it ended. The id is its code.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type InvitationStatus, invitationStates } from './states.ts';

export const invitations = table(
  'invitations',
  {
    /** 20 hexadecimal digits that people pass on; 8 where an older version made it. */
    id: col.text,
    /** Whose customer invites. */
    platform_id: col.text,
    environment: col.word<'sandbox' | 'production'>(),
    /** Who invites. */
    customer_id: col.text,
    /** Who accepted, where it is a customer here. */
    invitee_customer_id: col.text.null.mut,
    status: col.word<InvitationStatus>().mut,
    /** UMA addresses in small letters. */
    inviter_uma: col.text,
    invitee_uma: col.text.null.mut,
    /** As the platform wrote it; null also once erased. */
    first_name: col.text.null.mut,
    /** Smallest units of `currency`; both or neither. */
    amount: col.int8.null,
    currency: col.text.null,
    /** Null: it does not end by itself. */
    expires_at: col.time.null,
    claimed_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => row.status, states: invitationStates }],
    // Two that drew one code at once: the second draws again.
    races: ['invitations_pkey'],
  },
);

export type InvitationRow = RowOf<typeof invitations>;
