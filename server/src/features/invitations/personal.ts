// What invitations know of a customer, for whoever exports or erases it.
import type { Ctx } from '../../runtime/context.ts';
import { invitationStates } from './states.ts';
import { type InvitationRow, invitations } from './store.ts';

/** Far more than anybody sends; a plain search would stop at a thousand. */
const MANY = { limit: 100_000 };

/** The invitations that a customer sent and those it accepted, oldest first. */
export async function invitationsOf(
  { db }: Pick<Ctx, 'db'>,
  customerId: string,
): Promise<InvitationRow[]> {
  const [sent, claimed] = await Promise.all([
    db.find(invitations, { customer_id: customerId }, MANY),
    db.find(invitations, { invitee_customer_id: customerId }, MANY),
  ]);
  return [...sent, ...claimed].sort(
    (a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1),
  );
}

/**
 * Forgets the names on the invitations that a customer sent, and withdraws those that are still open. UMA
 * addresses stay, as that of the customer does. Says how many it changed.
 */
export async function eraseInvitations(ctx: Ctx, customerId: string): Promise<number> {
  const sent = await ctx.db.find(invitations, { customer_id: customerId }, MANY);
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
