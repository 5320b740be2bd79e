// Export of a customer's internal accounts. An erasure keeps the accounts and increments their
// version. A balance event refers to an earlier event of the same version. The erasure empties all
// existing events, so later balance events need a new version.
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { findInternalAccounts, renewInternalAccount } from './store.ts';

export const internalAccountPersonalData: PersonalData = {
  tables: {
    internal_accounts: {
      rows: CUSTOMER_ROWS_SQL,
      erasure: { retained: 'account ID, currency and funding instructions' },
    },
  },
  async erase(ctx, customer) {
    const rows = await findInternalAccounts(ctx.db, { customer_id: customer.id });
    for (const row of rows) renewInternalAccount(ctx, row);
  },
};
