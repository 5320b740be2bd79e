// Inserts and updates customers. Callers pass unencrypted personal data. This module encrypts it
// and computes the search digests.
import type { NewRowOf, PatchOf } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { DIGEST_COLUMNS } from '../digests/index.ts';
import { customerDigests, dataKeyOf, type Personal, personalOf, sealPersonal } from './personal.ts';
import { type CustomerRow, customers } from './store.ts';

type SealedColumn = 'data_key' | 'personal' | (typeof DIGEST_COLUMNS)[number];
type TimeColumn = 'created_at' | 'updated_at' | 'deleted_at';

/** Stages a new customer with its own data key. */
export function addCustomer(
  ctx: Ctx,
  {
    personal,
    ...columns
  }: Omit<NewRowOf<typeof customers>, SealedColumn | TimeColumn> & { personal: Personal },
): CustomerRow {
  const { id, email = null, phone = null } = columns;
  const data_key = ctx.vault.newKey(id);
  return ctx.insert(customers, {
    ...columns,
    data_key,
    personal: sealPersonal(ctx.vault, { owner: id, sealed: data_key }, personal),
    ...customerDigests(ctx.vault, { email, phone, personal }),
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/**
 * Encrypted personal data after an update. It is encrypted again only if it changed, because every
 * encryption uses a new nonce.
 */
function resealIfChanged(ctx: Ctx, row: CustomerRow, personal: Personal): string | null {
  const key = dataKeyOf(row);
  const previousPersonal = personalOf(ctx.vault, row);
  if (!key || JSON.stringify(previousPersonal) === JSON.stringify(personal)) return row.personal;
  return sealPersonal(ctx.vault, key, personal);
}

/** Stages an update of a customer. `personal` replaces all personal data. */
export function updateCustomer(
  ctx: Ctx,
  row: CustomerRow,
  {
    personal,
    ...columns
  }: Omit<PatchOf<typeof customers>, SealedColumn | 'updated_at'> & { personal?: Personal },
): CustomerRow {
  const { email, phone } = { ...row, ...columns };
  return ctx.update(customers, row, {
    ...columns,
    ...(personal && {
      personal: resealIfChanged(ctx, row, personal),
      ...customerDigests(ctx.vault, { email, phone, personal }),
    }),
    updated_at: ctx.now,
  });
}
