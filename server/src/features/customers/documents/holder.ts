// Whom a document is about: a customer, or somebody who owns a part of a business. Either way it belongs to
// a customer, whose data key seals it and whose end is its end.
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { DataKey } from '../../../runtime/security/vault.ts';
import {
  type CustomerRow,
  dataKeyOf,
  isFinal,
  type OwnerRow,
  readCustomer,
  readOwner,
  requireCustomer,
  requireOwner,
} from '../records/index.ts';

interface Holder {
  id: string;
  customer: CustomerRow;
  /** Null where the customer itself holds the document. */
  owner: OwnerRow | null;
}

/** The holder of this id, if the calling platform has one; deleted customers included. */
async function findHolder(ctx: Ctx, id: string): Promise<Holder | undefined> {
  const owner = isId(id, 'BeneficialOwner') ? await readOwner(ctx, id) : undefined;
  const customerId = owner?.customer_id ?? id;
  const customer = isId(customerId, 'Customer') ? await readCustomer(ctx, customerId) : undefined;
  if (customer?.platform_id !== ctx.caller.platformId) return undefined;
  return { id, customer, owner: owner ?? null };
}

/** Throws CUSTOMER_DELETED where nothing can be sealed for this customer any more. */
export function keyOf(customer: CustomerRow): DataKey {
  const key = dataKeyOf(customer);
  if (customer.deleted_at !== null || !key) {
    throw new Fault('CUSTOMER_DELETED', 'This customer was deleted.');
  }
  return key;
}

/** A holder that documents can be added for. What it is stays so until the commit, or the commit fails. */
export async function holderOf(ctx: Ctx, id: string): Promise<Holder> {
  const holder = await findHolder(ctx, id);
  if (!holder) {
    throw new Fault('DOCUMENT_HOLDER_NOT_FOUND', 'No such customer or beneficial owner.');
  }
  keyOf(holder.customer);
  requireCustomer(ctx, holder.customer);
  if (holder.owner) requireOwner(ctx, holder.owner);
  return holder;
}

/** Whether the check that the holder's documents are for has ended. */
export const isDecided = ({ customer, owner }: Holder): boolean =>
  isFinal(customer) || (owner !== null && isFinal(owner));
