// Customers as the API shows them, with what has to be read for it: the platform, and the owners of
// businesses.

import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import { type OwnerRow, ownersOf, ownersOfAll } from '../owners/index.ts';
import {
  type CheckMove,
  type CustomerRow,
  customerFeature,
  dataKeyOf,
  updateCustomer,
} from '../records/index.ts';
import { type CustomerView, presentCustomer, statusEvent } from './customer.ts';

/** One customer, shown with its owners as they are stored unless given. */
export async function customerView(
  ctx: Ctx,
  row: CustomerRow,
  owners?: readonly OwnerRow[],
): Promise<CustomerView> {
  const [platform, known] = await Promise.all([ownPlatform(ctx), owners ?? ownersOf(ctx, row)]);
  return presentCustomer(ctx.vault, row, platform, known);
}

/** Many customers, shown with their owners. */
export async function customerViews(
  ctx: Ctx,
  rows: readonly CustomerRow[],
): Promise<CustomerView[]> {
  const owners = await ownersOfAll(ctx, rows);
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
  const status = customerFeature.states.check.next(row.status, move);
  if (status === row.status) return row;
  const now = updateCustomer(ctx, row, { status });
  const event = statusEvent(now);
  if (event) {
    ctx.emitSealed(dataKeyOf(now), event, now.id, await customerView(ctx, now, owners));
  }
  return now;
}
