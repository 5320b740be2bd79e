// Table of invitations. The ID is the invitation code.
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type InvitationStatus, invitationStates } from './states.ts';

export const invitations = table(
  'invitations',
  {
    /** Code of 20 hexadecimal digits. 8 digits if an older version created it. */
    id: col.text,
    /** Platform of the inviter. */
    platform_id: col.text,
    environment: col.enum<'sandbox' | 'production'>(),
    /** Customer that invites. */
    customer_id: col.text,
    /** Invitee, if it is a customer of this server. */
    invitee_customer_id: col.text.null.mut,
    status: col.enum<InvitationStatus>().mut,
    /** UMA addresses in lower case. */
    inviter_uma: col.text,
    invitee_uma: col.text.null.mut,
    /** First name of the invitee. Null if the platform specified no name, and after erasure. */
    first_name: col.text.null.mut,
    /** Amount in minor units of `currency`. Set together with `currency`. */
    amount: col.int8.null,
    currency: col.text.null,
    /** Null if the invitation does not expire. */
    expires_at: col.time.null,
    claimed_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: invitationStates }],
    // If two invitations have the same code, the second operation runs again with a new code.
    contendedKeys: ['invitations_pkey'],
  },
);

export type InvitationRow = RowOf<typeof invitations>;
