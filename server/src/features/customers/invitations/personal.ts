// What invitations know of a customer, for whoever erases it.

import { ALL_OF_ONE } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { invitationStates } from './states.ts';
import { invitations } from './store.ts';

/**
 * Forgets the names on the invitations that a customer sent, and withdraws those that are still open. Says
 * how many it changed. Their UMA addresses are taken out afterwards, by whoever erases the customer.
 */
export async function eraseInvitations(ctx: Ctx, customerId: string): Promise<number> {
  const sent = await ctx.db.find(invitations, { customer_id: customerId }, ALL_OF_ONE);
  const held = sent.filter((row) => row.first_name !== null || row.status === 'PENDING');
  for (const row of held) {
    ctx.update(invitations, row, {
      first_name: null,
      status: invitationStates.peek(row.status, 'cancel') ?? row.status,
      updated_at: ctx.now,
    });
  }
  return held.length;
}
