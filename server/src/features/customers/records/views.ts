// Customers as the API shows them, with what has to be read for it: the platform, and the owners of
// businesses.
import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import { type CustomerView, presentCustomer, statusEvent } from './customer.ts';
import { beneficialOwners, type OwnerRow } from './owners/owners.ts';
import { dataKeyOf } from './personal.ts';
import { type CheckMove, checkStates } from './states.ts';
import { type CustomerRow, customers } from './store.ts';

const byAge = (a: OwnerRow, b: OwnerRow): number =>
  a.created_at - b.created_at || (a.id < b.id ? -1 : 1);

/** Those who own or control a business, the first one first; none of a person. */
export async function ownersOf(
  { db }: Pick<Ctx, 'db'>,
  row: Pick<CustomerRow, 'id' | 'type'>,
): Promise<OwnerRow[]> {
  if (row.type === 'INDIVIDUAL') return [];
  const rows = await db.find(beneficialOwners, { customer_id: row.id });
  return rows.sort(byAge);
}

/** One customer, shown with its owners as they are stored unless given. */
export async function customerView(
  ctx: Ctx,
  row: CustomerRow,
  owners?: readonly OwnerRow[],
): Promise<CustomerView> {
  const [platform, known] = await Promise.all([ownPlatform(ctx), owners ?? ownersOf(ctx, row)]);
  return presentCustomer(ctx.vault, row, platform, known);
}

const OWNERS = 'select id from beneficial_owners where customer_id = any($1::text[])';

/** Many customers, shown with their owners. However many they are, the owners take two reads. */
export async function customerViews(
  ctx: Ctx,
  rows: readonly CustomerRow[],
): Promise<CustomerView[]> {
  const firms = rows.filter((row) => row.type === 'BUSINESS').map((row) => row.id);
  const ids = firms.length ? await ctx.db.query<{ id: string }>(OWNERS, [firms]) : [];
  const found = await Promise.all(ids.map(({ id }) => ctx.read(beneficialOwners, id)));
  const owners = new Map<string, OwnerRow[]>(rows.map((row) => [row.id, []]));
  for (const owner of found) if (owner) owners.get(owner.customer_id)?.push(owner);
  for (const each of owners.values()) each.sort(byAge);
  return Promise.all(rows.map((row) => customerView(ctx, row, owners.get(row.id))));
}

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
  if (event) {
    ctx.emitSealed(dataKeyOf(now), event, now.id, await customerView(ctx, now, owners));
  }
  return now;
}
