// Erases the personal data in the row of a deleted customer. Deleting the data key makes all data
// encrypted with it unreadable, except in backups that contain the key. Unencrypted personal data
// is removed from the row. Identifiers, dates, status and amounts are kept, so that the books
// remain complete.

import type { Ctx } from '../../../runtime/operation/context.ts';
import { digestsOf } from '../digests/index.ts';
import { type CustomerRow, customers } from './store.ts';

/**
 * Replacement of the `platformCustomerId` and of the name in the UMA address of an erased customer.
 */
export const tombstoneOf = (id: string): string =>
  `erased-${id.slice('Customer:'.length).toLowerCase()}`;

const ERASED_IP_ADDRESS = '0.0.0.0';

/** Stages the erasure of all personal data in the row of a customer. */
export function eraseCustomer(ctx: Ctx, row: CustomerRow): void {
  const tombstone = tombstoneOf(row.id);
  const domain = row.uma_address.slice(row.uma_address.lastIndexOf('@') + 1);
  ctx.update(customers, row, {
    platform_customer_id: tombstone,
    uma_address: `$${tombstone}@${domain}`,
    email: null,
    phone: null,
    contact_verification: null,
    terms_consent: row.terms_consent && { ...row.terms_consent, ipAddress: ERASED_IP_ADDRESS },
    data_key: null,
    personal: null,
    ...digestsOf(ctx.vault),
    updated_at: ctx.now,
  });
}
