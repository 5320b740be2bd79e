// Erasing what is personal about a customer who was deleted. Forgetting the data key makes everything that
// was ever sealed under it unreadable, but in a backup that still has the key; what lies in clear is taken
// out of the row. Its ids, dates, status and money stay, so that the books still say what happened.

import type { Ctx } from '../../../runtime/operation/context.ts';
import { digestsOf } from '../digests/index.ts';
import { type CustomerRow, customers } from './store.ts';

/** What stands in the place of the platform's own id of the customer, and before the @ of the UMA address. */
export const tombstoneOf = (id: string): string =>
  `erased-${id.slice('Customer:'.length).toLowerCase()}`;

const NOWHERE = '0.0.0.0';

/** Stages the end of everything personal in the row of a customer. */
export function eraseCustomer(ctx: Ctx, row: CustomerRow): void {
  const tombstone = tombstoneOf(row.id);
  const domain = row.uma_address.slice(row.uma_address.lastIndexOf('@') + 1);
  ctx.update(customers, row, {
    platform_customer_id: tombstone,
    uma_address: `$${tombstone}@${domain}`,
    email: null,
    phone: null,
    contact_verification: null,
    terms_consent: row.terms_consent && { ...row.terms_consent, ipAddress: NOWHERE },
    data_key: null,
    personal: null,
    ...digestsOf(ctx.vault),
    updated_at: ctx.now,
  });
}
