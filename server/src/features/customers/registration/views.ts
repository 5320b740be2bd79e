// Builds API resources of customers. Reads the platform and, for businesses, the beneficial owners.

import type { Ctx } from '../../../runtime/operation/context.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { type OwnerRow, ownersByBusiness, ownersOf } from '../owners/index.ts';
import {
  type CheckTransition,
  type CustomerRow,
  customerFeature,
  dataKeyOf,
  updateCustomer,
} from '../records/index.ts';
import { type CustomerView, presentCustomer, statusEvent } from './customer.ts';

/** API resource of one customer. Reads the owners unless they are provided. */
export async function customerView(
  ctx: Ctx,
  row: CustomerRow,
  owners?: readonly OwnerRow[],
): Promise<CustomerView> {
  const [platform, currentOwners] = await Promise.all([
    readOwnPlatform(ctx),
    owners ?? ownersOf(ctx, row),
  ]);
  return presentCustomer(ctx.vault, row, platform, currentOwners);
}

/** API resources of several customers, with their owners. */
export async function customerViews(
  ctx: Ctx,
  rows: readonly CustomerRow[],
): Promise<CustomerView[]> {
  const owners = await ownersByBusiness(ctx, rows);
  return Promise.all(rows.map((row) => customerView(ctx, row, owners.get(row.id))));
}

/**
 * Applies a transition to the identity check of a customer and emits the event of the new status.
 * `owners` are the owners of a business after this change set. An unchanged status emits no event.
 */
export async function transitionCheck(
  ctx: Ctx,
  row: CustomerRow,
  transition: CheckTransition,
  owners?: readonly OwnerRow[],
): Promise<CustomerRow> {
  const status = customerFeature.states.check.next(row.status, transition);
  if (status === row.status) return row;
  const updatedCustomer = updateCustomer(ctx, row, { status });
  const event = statusEvent(updatedCustomer);
  if (event) {
    ctx.emitSealed(
      dataKeyOf(updatedCustomer),
      event,
      updatedCustomer.id,
      await customerView(ctx, updatedCustomer, owners),
    );
  }
  return updatedCustomer;
}
