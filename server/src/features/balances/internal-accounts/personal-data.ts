// Export of a customer's internal accounts. An erasure keeps them.
import { OF_CUSTOMER, type PersonalData } from '../../../runtime/operation/personal-data.ts';

export const internalAccountPersonalData: PersonalData = {
  tables: {
    internal_accounts: {
      rows: OF_CUSTOMER,
      erasure: { stays: 'account id, currency and funding instructions' },
    },
  },
};
