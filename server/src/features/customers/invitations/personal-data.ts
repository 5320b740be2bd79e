// Export and erasure of invitations of a customer.

import { UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { changedRows, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { tombstoneOf } from '../records/index.ts';
import { invitationStates } from './states.ts';
import { invitations } from './store.ts';

/**
 * Erases the invitee names on invitations that the customer sent, and cancels pending invitations.
 * Returns the number of changed rows. UMA addresses are replaced afterwards by `empty`.
 */
export async function eraseInvitations(ctx: Ctx, customerId: string): Promise<number> {
  const ownInvitations = await ctx.db.find(invitations, { customer_id: customerId }, UNPAGED);
  const rowsToErase = ownInvitations.filter(
    (row) => row.first_name !== null || row.status === 'PENDING',
  );
  for (const row of rowsToErase) {
    ctx.update(invitations, row, {
      first_name: null,
      status: invitationStates.targetOf(row.status, 'cancel') ?? row.status,
      updated_at: ctx.now,
    });
  }
  return rowsToErase.length;
}

const ERASE_ADDRESSES_SQL = `update invitations set version = version + 1,
    inviter_uma = case when customer_id = $1 then $2 else inviter_uma end,
    invitee_uma = case when invitee_customer_id = $1 then $2 else invitee_uma end
  where (customer_id = $1 and inviter_uma <> $2) or (invitee_customer_id = $1 and invitee_uma <> $2)
  returning id`;

const OF_INVITER_OR_INVITEE = 't.customer_id = $1 or t.invitee_customer_id = $1';

export const invitationPersonalData: PersonalData = {
  tables: { invitations: { rows: OF_INVITER_OR_INVITEE, erasure: 'emptied' } },
  subjects: { invitations: 'customer_id = $1 or invitee_customer_id = $1' },
  async erase(ctx, { id }) {
    await eraseInvitations(ctx, id);
  },
  async empty({ db }, { id }) {
    return { invitations: await changedRows(db, ERASE_ADDRESSES_SQL, [id, tombstoneOf(id)]) };
  },
};
