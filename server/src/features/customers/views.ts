// Customers as the API shows them, with what has to be read for it: the platform, and the owners of
// businesses.
import type { Ctx } from '../../runtime/context.ts';
import { type CustomerView, presentCustomer, statusEvent } from './customer.ts';
import { beneficialOwners, type OwnerRow } from './owners.ts';
import { platformOf } from './reads.ts';
import { type CheckMove, checkStates } from './states.ts';
import { type CustomerRow, customers } from './store.ts';

/** Those who own or control a business, the first one first; none of a person. */
export async function ownersOf(
  { db }: Pick<Ctx, 'db'>,
  row: Pick<CustomerRow, 'id' | 'type'>,
): Promise<OwnerRow[]> {
  if (row.type === 'INDIVIDUAL') return [];
  const rows = await db.find(beneficialOwners, { customer_id: row.id });
  return rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/** One customer, shown with its owners as they are stored unless given. */
export async function customerView(
  ctx: Ctx,
  row: CustomerRow,
  owners?: readonly OwnerRow[],
): Promise<CustomerView> {
  const [platform, known] = await Promise.all([platformOf(ctx), owners ?? ownersOf(ctx, row)]);
  return presentCustomer(ctx.vault, row, platform, known);
}

export const customerViews = (ctx: Ctx, rows: readonly CustomerRow[]): Promise<CustomerView[]> =>
  Promise.all(rows.map((row) => customerView(ctx, row)));

/**
 * Moves the check of a customer on and tells its platform. `owners` are those of a business as this change
 * set leaves them. Staying where it is tells nobody.
 */
export async function moveCheck(
  ctx: Ctx,
  row: CustomerRow,
  move: CheckMove,
  owners?: readonly OwnerRow[],
): Promise<CustomerRow> {
  const status = checkStates.next(row.status, move);
  if (status === row.status) return row;
  const now = ctx.update(customers, row, { status, updated_at: ctx.now });
  const event = statusEvent(now);
  if (event) ctx.emit(event, now.id, await customerView(ctx, now, owners));
  return now;
}
