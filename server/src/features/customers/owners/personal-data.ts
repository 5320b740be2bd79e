// Export and erasure of beneficial owners.
import {
  CUSTOMER_ROWS_SQL,
  type PersonalData,
  rowAs,
} from '../../../runtime/operation/personal-data.ts';
import { DIGEST_COLUMNS, digestsOf } from '../digests/index.ts';
import type { CustomerRow } from '../records/index.ts';
import { beneficialOwners, type OwnerRow, ownerPersonal } from './owners.ts';
import { ownersOf } from './reads.ts';

export const ownerPersonalData: PersonalData<CustomerRow> = {
  tables: {
    beneficial_owners: {
      rows: CUSTOMER_ROWS_SQL,
      without: [...DIGEST_COLUMNS],
      open: ({ vault, customer }, row) => ({
        personal: ownerPersonal(vault, customer, rowAs<OwnerRow>(row)) ?? null,
      }),
      erasure: 'emptied',
      atOnce: true,
    },
  },
  subjects: { beneficial_owners: 'customer_id = $1' },
  async erase(ctx, customer) {
    const erasedColumns = { personal: null, ...digestsOf(ctx.vault), updated_at: ctx.now };
    for (const owner of await ownersOf(ctx, customer))
      ctx.update(beneficialOwners, owner, erasedColumns);
  },
};
