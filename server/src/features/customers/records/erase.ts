// Erasing what is personal about a customer who was deleted. Forgetting the data key makes everything that
// was ever sealed under it unreadable, but in a backup that still has the key; what lies in clear is taken
// out of the row. Its ids, dates, status and money stay, so that the books still say what happened.
import type { Ctx } from '../../../runtime/operation/context.ts';
import { NO_DIGESTS } from './digests.ts';
import { beneficialOwners } from './owners/owners.ts';
import { type CustomerRow, customers } from './store.ts';
import { ownersOf } from './views.ts';

/** What stands in the place of the platform's own id of the customer, and before the @ of the UMA address. */
export const tombstoneOf = (id: string): string =>
  `erased-${id.slice('Customer:'.length).toLowerCase()}`;

const NOWHERE = '0.0.0.0';

/** Stages the end of everything personal in the rows of a customer and its owners; the row after it. */
export async function eraseCustomer(ctx: Ctx, row: CustomerRow): Promise<CustomerRow> {
  const tombstone = tombstoneOf(row.id);
  const domain = row.uma_address.slice(row.uma_address.lastIndexOf('@') + 1);
  for (const owner of await ownersOf(ctx, row)) {
    ctx.update(beneficialOwners, owner, { personal: null, ...NO_DIGESTS, updated_at: ctx.now });
  }
  return ctx.update(customers, row, {
    platform_customer_id: tombstone,
    uma_address: `$${tombstone}@${domain}`,
    email: null,
    phone: null,
    contact_verification: null,
    terms_consent: row.terms_consent && { ...row.terms_consent, ipAddress: NOWHERE },
    data_key: null,
    personal: null,
    ...NO_DIGESTS,
    updated_at: ctx.now,
  });
}
